import { createError } from "../../../src/plugin/index.js";

/** Connection parameters by libpq keyword (PostgreSQL, "Connection Strings"). */
export type ConnectionKeywords = ReadonlyMap<string, string>;

/** Supported libpq keywords, and GDAL's `active_schema`. */
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

/** A password within a value, due to separators of other programs: `host=…;password=…`. */
const embeddedSecret = /(^|[\s;,&?])(ssl)?(password|passwd|pwd)\s*=/i;
/** Unknown keywords that messages may show; any other text may contain a password. */
const plainKeyword = /^[a-z_]{1,32}$/i;

const schemePattern = /^(?:pg:|postgres(?:ql)?:(?=\/\/))/i;

export const isAddress = (text: string): boolean => schemePattern.test(text);

const invalidAddress = (reason: string): Error =>
  createError("usage", {
    reason: `invalid database address: it ${reason}; use pg://user@host/database, pg:service=NAME or pg:"host=… dbname=…"`,
  });

const addressWithPassword = (): Error =>
  createError("usage", {
    reason:
      "the database address contains a password, which other users of this machine can read in the process list; use PGPASSWORD or a password file (~/.pgpass, PGPASSFILE)",
  });

/** @throws usage; the message shows no text that may be a password */
export function parseAddress(text: string): ConnectionKeywords {
  const rest = text
    .replace(schemePattern, "")
    .replace(/^"(.*)"$/s, "$1")
    .trim();
  const pairs = rest.startsWith("//") ? parseUri(rest.slice(2)) : rest.includes("=") ? parseKeywordText(rest) : [];
  if (pairs.length === 0 && rest !== "" && !rest.startsWith("//")) {
    // Part of a URI, possibly with a user and a password.
    if (/[@:/]/.test(rest))
      throw invalidAddress("is neither a database name, nor keyword=value, nor a URI that starts with //");
    pairs.push(["dbname", rest]);
  }
  const keywords = new Map<string, string>();
  for (const [key, value] of pairs) {
    if (secretKeyword.test(key)) throw addressWithPassword();
    if (key === "schemas" || key === "tables")
      throw invalidAddress(`has the keyword ${key}; choose layers with --layer schema.table instead`);
    if (embeddedSecret.test(value)) throw addressWithPassword();
    if (!knownKeywords.has(key)) {
      const what = plainKeyword.test(key) ? `has the keyword ${JSON.stringify(key)}` : "has a part before =";
      throw invalidAddress(`${what}, which is not a supported keyword`);
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
    throw invalidAddress("has an invalid % escape");
  }
}

/** `user@host:port,host:port/database?keyword=value&…` */
function parseUri(text: string): KeywordPair[] {
  const [, authority = "", path = "", query = ""] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(text) ?? [];
  // Probably the rest of a password that contains a slash.
  if (path.includes("@")) throw invalidAddress("has an @ after the first slash; escape it as %40");
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
    // JDBC's spelling.
    if (key === "ssl" && value.join("=") === "true") pairs.push(["sslmode", "require"]);
    else pairs.push([decoded(key), decoded(value.join("="))]);
  }
  return pairs;
}

/** A host, which may be an IPv6 address in brackets, and its port. */
function parseServer(text: string): readonly [host: string, port: string] {
  const [, bracketed, host = "", port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(text) ?? [];
  // Without an @ after it, this may be a password.
  if (!/^\d*$/.test(port)) throw invalidAddress("has text after a colon that is not a port");
  return [bracketed ?? decoded(host), port];
}

/** `keyword = value` pairs separated by spaces; values may be in single quotes, and a backslash escapes any character. */
function parseKeywordText(text: string): KeywordPair[] {
  const pair = /\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/sy;
  const pairs: KeywordPair[] = [];
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text);
    if (!found) throw invalidAddress("has text that is not keyword=value");
    pairs.push([found[1]!, (found[2] ?? found[3] ?? "").replaceAll(/\\(.)/gs, "$1")]);
  }
  return pairs;
}

/** Stem for names of files that belong to the database. @throws usage */
export function databaseNameOf(text: string): string {
  const keywords = parseAddress(text);
  return keywords.get("dbname") ?? keywords.get("service") ?? process.env.PGDATABASE ?? "postgis";
}

/** Removes user and query from a URI, and password values from keywords. */
export function redactAddress(text: string): string {
  return text
    .replace(/^([a-z:]*:\/\/)([^?#]*).*$/is, (_, begin: string, rest: string) => begin + rest.replace(/^[^/]*@/, ""))
    .replace(/((?:password|passwd|pwd)\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&;"]+)/gi, "$1…");
}
