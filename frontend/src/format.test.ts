import { expect, test } from "vitest";
import { count, duration, exponent, number, rough, shape, share, withUnit } from "./format";

test("numbers keep four digits, plain where that is short and with an exponent where it is not", () => {
  const cases: [number, string][] = [
    [0, "0"], [0.01712345, "0.01712"], [-0.5, "−0.5000"], [4700, "4,700"], [1e-3, "0.001000"], [0.00099, "9.900e−4"],
    [9999.96, "1.000e4"], [123456, "1.235e5"], [-2.5e-9, "−2.500e−9"],
  ];
  for (const [value, text] of cases) expect(number(value)).toBe(text);
});

test("numbers that are none are written as words", () => {
  expect([NaN, Infinity, -Infinity].map((value) => number(value))).toEqual(["NaN", "+Inf", "−Inf"]);
  expect(exponent(NaN)).toBe("NaN");
});

test("exponents have two digits and no plus", () => {
  expect([0.0011, 87, -5.26e-7, 0].map((value) => exponent(value))).toEqual(["1.1e−3", "8.7e1", "−5.3e−7", "0"]);
});

test("a part never reads as all or nothing when it is not", () => {
  expect([share(0, 10), share(10, 10), share(7670, 10000), share(1, 1e6), share(999_999, 1e6), share(1, 0)]).toEqual([
    "0 %", "100 %", "76.7 %", "<0.1 %", ">99.9 %", "–",
  ]);
});

test("counts, times and shapes read as people write them", () => {
  expect([count(294912), rough(160), rough(20_300), rough(823_000), rough(25_600_000)]).toEqual(["294,912", "160", "20.3 k", "0.82 M", "25.6 M"]);
  expect([duration(0.0000042), duration(0.00015), duration(0.031), duration(2.44), duration(600)]).toEqual(["4.2 µs", "150 µs", "31 ms", "2.4 s", "10 min"]);
  expect([shape([-1, 24, 24, 16]), shape([]), shape(null)]).toEqual(["?×24×24×16", "scalar", "?"]);
});

test("a unit follows its prefix, and a number without one", () => {
  expect([160, 12_345, 800_000, 27_100_000].map((value) => withUnit(value, "B"))).toEqual(["160 B", "12.3 kB", "0.80 MB", "27.1 MB"]);
});
