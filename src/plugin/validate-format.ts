import { apiVersion, type Format } from "./format.js";

type PlainObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is PlainObject => typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isFunction = (value: unknown): boolean => typeof value === "function";

function validateExtensions(value: unknown, member: string, least: number): string | null {
  if (!Array.isArray(value) || value.length < least)
    return `${member} must be an array${least > 0 ? ", not empty" : ""}`;
  const wrong = value.find((each) => !isText(each) || each.startsWith(".") || each !== each.toLowerCase());
  if (wrong === undefined) return null;
  return `${member} has ${JSON.stringify(wrong)}: extensions are lower case, without the dot`;
}

const defaultMatchesType: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  choice: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};

function validateOption(spec: unknown, member: string): string | null {
  if (!isObject(spec)) return `${member} must be an object`;
  const { type } = spec;
  const fits = isText(type) && Object.hasOwn(defaultMatchesType, type) ? defaultMatchesType[type] : undefined;
  if (!fits) return `${member}.type must be one of ${Object.keys(defaultMatchesType).join(", ")}`;
  if (!isText(spec.help)) return `${member}.help must be a text`;
  if (type === "choice") {
    const choices = spec.choices;
    if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isText)) {
      return `${member}.choices must be an array of texts, not empty`;
    }
    if (spec.default !== undefined && !choices.some((each) => each === spec.default))
      return `${member}.default must be one of its choices`;
  }
  if (spec.default !== undefined && !fits(spec.default)) return `${member}.default is not of the type ${String(type)}`;
  return null;
}

function validateReaderOrWriter(half: unknown, member: "reader" | "writer"): string | null {
  if (!isObject(half)) return `${member} must be an object, or be left out`;
  if (!isObject(half.options)) return `${member}.options must be an object ({} for none)`;
  for (const [name, spec] of Object.entries(half.options)) {
    const flaw = validateOption(spec, `${member}.options.${name}`);
    if (flaw !== null) return flaw;
  }
  if (!isFunction(half.load)) return `${member}.load must be a function`;
  if (member === "writer" && !isFunction(half.capabilities)) return "writer.capabilities must be a function";
  return null;
}

const archiveMembers = ["extensions", "findMain", "isLinked", "mainName"];

function validateArchive(archive: unknown, extensions: unknown): string | null {
  if (!isObject(archive)) return "archive must be an object, or be left out";
  const flaw = validateExtensions(archive.extensions, "archive.extensions", 1);
  if (flaw !== null) return flaw;
  const foreign = (archive.extensions as unknown[]).find((each) => !(extensions as unknown[]).includes(each));
  if (foreign !== undefined) return `archive.extensions has "${String(foreign)}", which is not among its extensions`;
  const unknown = Object.keys(archive).find((name) => !archiveMembers.includes(name));
  if (unknown !== undefined) return `archive.${unknown} is unknown; an archive has ${archiveMembers.join(", ")}`;
  if (archive.findMain !== undefined && !isFunction(archive.findMain))
    return "archive.findMain must be a function, or be left out";
  if (archive.mainName !== undefined && !(isText(archive.mainName) && !/[/\\]/.test(archive.mainName))) {
    return "archive.mainName must be the name of a file, or be left out";
  }
  return null;
}

function validateAddressScheme(addresses: unknown): string | null {
  if (!isObject(addresses)) return "addresses must be an object, or be left out";
  if (!isText(addresses.syntax)) return "addresses.syntax must be a text";
  for (const member of ["match", "fileStem", "redact"]) {
    if (!isFunction(addresses[member])) return `addresses.${member} must be a function`;
  }
  return null;
}

/** What keeps a value from being a format of this version of the contract, in words; null if nothing does. */
export function validateFormat(value: unknown): string | null {
  if (!isObject(value)) return "its default export is not a format (see defineFormat)";
  if (value.apiVersion !== apiVersion) {
    const asked =
      value.apiVersion === undefined ? "names no apiVersion" : `asks for apiVersion ${String(value.apiVersion)}`;
    return `it ${asked}, and this geoferry has ${apiVersion}`;
  }
  if (!isText(value.id) || !/^[A-Za-z][\w.:+-]*(:[\w.:+ -]*)?$/.test(value.id)) {
    return "id must be a word of letters, digits and _ . : + -, beginning with a letter";
  }
  if (!isText(value.label)) return "label must be a text";
  const extensions = validateExtensions(value.extensions, "extensions", 0);
  if (extensions !== null) return extensions;
  const companionExtensions =
    value.companionExtensions === undefined
      ? null
      : validateExtensions(value.companionExtensions, "companionExtensions", 0);
  if (companionExtensions !== null) return companionExtensions;
  const folders =
    value.folderExtensions === undefined ? null : validateExtensions(value.folderExtensions, "folderExtensions", 0);
  if (folders !== null) return folders;
  const archive = value.archive === undefined ? null : validateArchive(value.archive, value.extensions);
  if (archive !== null) return archive;
  const addresses = value.addresses === undefined ? null : validateAddressScheme(value.addresses);
  if (addresses !== null) return addresses;
  if (!isFunction(value.identify)) return "identify must be a function";
  if (value.reader === undefined && value.writer === undefined) return "it has neither a reader nor a writer";
  for (const member of ["reader", "writer"] as const) {
    const flaw = value[member] === undefined ? null : validateReaderOrWriter(value[member], member);
    if (flaw !== null) return flaw;
  }
  return null;
}

export const isFormat = (value: unknown): value is Format => validateFormat(value) === null;
