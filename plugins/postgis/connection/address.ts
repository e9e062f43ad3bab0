import { createError } from "../../../src/plugin/index.js";

/** What an address says, by the keywords of libpq (PostgreSQL, "Connection Strings"). */
export type ConnectionKeywords = ReadonlyMap<string, string>;

/** Keywords of libpq that are understood, and `active_schema`, which GDAL's users know. */
const knownKeywords = new Set([
  "host",
  "hostaddr",
  "port",
  "dbname",
  "user",
  "service",
  "connect_timeout",
  "options",
  "application_name",
  "fallback_application_name",
  "client_encoding",
  "keepalives",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "active_schema",
]);

const secretKeyword = /^(password|sslpassword)$/;

/** A password inside a value, as other programs separate keywords: `host=…;password=…`. */
const embeddedSecret = /(^|[\s;,&?])(ssl)?(password|passwd|pwd)\s*=/i;
/** What may be repeated of a keyword that is not understood: of anything else a part may be a password. */
const plainKeyword = /^[a-z_]{1,32}$/i;

const schemePattern = /^(?:pg:|postgres(?:ql)?:(?=\/\/))/i;

export const isAddress = (text: string): boolean => schemePattern.test(text);

const invalidAddress = (reason: string): Error =>
  createError("usage", {
    reason: `the address of a database ${reason}; it is like pg://user@host/database, pg:service=NAME or pg:"host=… dbname=…"`,
  });

const addressWithPassword = (): Error =>
  createError("usage", {
    reason:
      "the address of a database has a password in it, which every program of this machine can read there; put it into PGPASSWORD or a password file (~/.pgpass, PGPASSFILE)",
  });

/** @throws usage, without repeating the address where a password may stand in it */
export function parseAddress(text: string): ConnectionKeywords {
  const rest = text
    .replace(schemePattern, "")
    .replace(/^"(.*)"$/s, "$1")
    .trim();
  const pairs = rest.startsWith("//") ? parseUri(rest.slice(2)) : rest.includes("=") ? parseKeywordText(rest) : [];
  if (pairs.length === 0 && rest !== "" && !rest.startsWith("//")) {
    // Half of a URI: a user and a password may be in it.
    if (/[@:/]/.test(rest))
      throw invalidAddress("is no name of a database, has no keyword=value and does not begin with //");
    pairs.push(["dbname", rest]);
  }
  const keywords = new Map<string, string>();
  for (const [key, value] of pairs) {
    if (secretKeyword.test(key)) throw addressWithPassword();
    if (key === "schemas" || key === "tables")
      throw invalidAddress(`says ${key}=; choose layers with --layer schema.table`);
    if (embeddedSecret.test(value)) throw addressWithPassword();
    if (!knownKeywords.has(key)) {
      const what = plainKeyword.test(key) ? `has the keyword ${JSON.stringify(key)}` : "has a part before =";
      throw invalidAddress(`${what}, which is none that PostgreSQL's addresses have`);
    }
    if (value !== "") keywords.set(key, value);
  }
  return keywords;
}

type KeywordPair = [key: string, value: string];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidAddress("has a % that is no escape");
  }
}

/** `user@host:port,host:port/database?keyword=value&…` */
function parseUri(text: string): KeywordPair[] {
  const [, authority = "", path = "", query = ""] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(text) ?? [];
  // The rest of a password that has a slash in it.
  if (path.includes("@")) throw invalidAddress("has an @ behind the first slash; in a name it is written %40");
  const at = authority.lastIndexOf("@");
  const [user = "", ...password] = authority.slice(0, Math.max(0, at)).split(":");
  if (password.join(":") !== "") throw addressWithPassword();
  const servers = authority
    .slice(at + 1)
    .split(",")
    .map(parseServer);
  const pairs: KeywordPair[] = [
    ["user", decoded(user)],
    ["host", servers.map(([host]) => host).join(",")],
    ["port", servers.every(([, port]) => port === "") ? "" : servers.map(([, port]) => port).join(",")],
    ["dbname", decoded(path)],
  ];
  for (const pair of query.split("&").filter((pair) => pair !== "")) {
    const [key = "", ...value] = pair.split("=");
    // What JDBC's users write.
    if (key === "ssl" && value.join("=") === "true") pairs.push(["sslmode", "require"]);
    else pairs.push([decoded(key), decoded(value.join("="))]);
  }
  return pairs;
}

/** A host, which may be an IPv6 address in brackets, and its port. */
function parseServer(text: string): readonly [host: string, port: string] {
  const [, bracketed, host = "", port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(text) ?? [];
  // Without an @ behind it, a password stands there.
  if (!/^\d*$/.test(port)) throw invalidAddress("has something behind a colon that is no port");
  return [bracketed ?? decoded(host), port];
}

/** `keyword = value`, with spaces between them; values in single quotes may have spaces, a backslash takes any character. */
function parseKeywordText(text: string): KeywordPair[] {
  const pair = /\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/sy;
  const pairs: KeywordPair[] = [];
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text);
    if (!found) throw invalidAddress("has something that is no keyword=value");
    pairs.push([found[1]!, (found[2] ?? found[3] ?? "").replaceAll(/\\(.)/gs, "$1")]);
  }
  return pairs;
}

/** What files about the database are called after. @throws usage */
export function databaseNameOf(text: string): string {
  const keywords = parseAddress(text);
  return keywords.get("dbname") ?? keywords.get("service") ?? process.env.PGDATABASE ?? "postgis";
}

/** A URI without user and query, keywords without what passwords say. */
export function redactAddress(text: string): string {
  return text
    .replace(/^([a-z:]*:\/\/)([^?#]*).*$/is, (_, begin: string, rest: string) => begin + rest.replace(/^[^/]*@/, ""))
    .replace(/((?:password|passwd|pwd)\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&;"]+)/gi, "$1…");
}
