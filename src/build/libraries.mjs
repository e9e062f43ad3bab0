/** Lists the libraries that are part of the package: their licences, and a software bill of materials. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** Folders of the packages that modules come from. */
function packageFolders(moduleIds) {
  const folders = moduleIds.map(
    (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll("\\", "/"))?.[0],
  );
  return [...new Set(folders.filter(Boolean))];
}

/** The text of a licence file, else the name of the licence. */
function licenceText(folder, { license }) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  const texts = files.map((name) => readFileSync(join(folder, name), "utf8").trim());
  return texts.length > 0 ? texts.join("\n\n") : `Licence: ${license ?? "UNKNOWN"}`;
}

/**
 * Writes `THIRD-PARTY-NOTICES.txt`, and `sbom.json` in the form of CycloneDX 1.6 (ECMA-424).
 * @param folder for both
 * @param moduleIds paths of the modules in the bundle
 * @param others folders of packages that are copied, and not bundled
 */
export function listLibraries(folder, moduleIds, others) {
  const libraries = [...new Set([...packageFolders(moduleIds), ...others])].map((path) => ({
    ...JSON.parse(readFileSync(join(path, "package.json"), "utf8")),
    path,
  }));
  libraries.sort((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices(libraries));
  writeFileSync(join(folder, "sbom.json"), `${JSON.stringify(billOfMaterials(libraries), null, 2)}\n`);
}

/** Libraries with the same text share it. */
function notices(libraries) {
  const names = new Map();
  for (const library of libraries) {
    const text = licenceText(library.path, library);
    names.set(text, [
      ...(names.get(text) ?? []),
      `${library.name} ${library.version} (${library.license ?? "UNKNOWN"})`,
    ]);
  }
  const line = `\n\n${"-".repeat(80)}\n\n`;
  const head = "Libraries that this package contains, and their licences. Sources: https://www.npmjs.com/package/NAME";
  return `${[head, ...[...names].map(([text, group]) => `${group.join("\n")}\n\n${text}`)].join(line)}\n`;
}

const packageUrl = ({ name, version }) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

const component = ({ name, version, license }, type = "library") => ({
  type,
  "bom-ref": packageUrl({ name, version }),
  name,
  version,
  purl: packageUrl({ name, version }),
  licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
});

const billOfMaterials = (libraries) => ({
  $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  version: 1,
  metadata: { component: component(manifest, "application") },
  components: libraries.map((library) => component(library)),
  dependencies: [
    { ref: packageUrl(manifest), dependsOn: libraries.map(packageUrl) },
    ...libraries.map((library) => ({ ref: packageUrl(library) })),
  ],
});
