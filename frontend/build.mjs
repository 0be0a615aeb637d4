/** Builds the page into tb_layerflow/static/: one module, one worker, shared chunks, the licences of what is bundled. */
import { build, transform } from "esbuild";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ? resolve(process.argv[2]) : join(here, "..", "tb_layerflow", "static");

/** Style sheets become strings, which the page adopts: the entry page has no `<link>` of ours, and nothing flashes unstyled. */
const styleSheetsAsText = {
  name: "style-sheets-as-text",
  setup(bundler) {
    bundler.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true, charset: "utf8" });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

const result = await build({
  absWorkingDir: here,
  entryPoints: { index: "src/index.tsx", "layout.worker": "src/flow/layout.worker.ts" },
  outdir: target,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  chunkNames: "chunk-[hash]",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
  write: false,
  plugins: [styleSheetsAsText],
});

/** The folder in node_modules that a bundled file belongs to, or null for a file of ours. */
function packageOf(path) {
  const parts = path.split("node_modules/").pop().split("/");
  if (!path.includes("node_modules/")) return null;
  return parts[0].startsWith("@") ? `${parts[0]}/${parts[1]}` : parts[0];
}

async function licenceOf(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} is bundled but has no licence file. Add its text to build.mjs or drop the package.`);
  const text = (await readFile(join(folder, file), "utf8")).replace(/\r\n/g, "\n").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}

const bundled = [...new Set(Object.keys(result.metafile.inputs).map(packageOf))].filter(Boolean).sort();
const licences = (await Promise.all(bundled.map(licenceOf))).join(`\n${"-".repeat(72)}\n\n`);

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
for (const file of result.outputFiles) await writeFile(file.path, file.contents);
await writeFile(join(target, "LICENCES.txt"), licences);
