/** Hands the browser a file to keep. */
export function download(name: string, parts: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(parts);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A call path as a file's name. */
export const fileName = (...parts: (string | number)[]): string => parts.join("-").replaceAll(/[^\w.#-]+/g, "_").replace(/^[_.]+/, "");
