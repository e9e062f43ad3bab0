/**
 * The addresses of a database with several hosts, as libpq writes it: `postgres://user@one:5432,two:5432/name` (PostgreSQL,
 * 34.1.1.3). Each has one of the hosts, in their order. @returns the given URL if it has one host
 */
export function hostUrls(url: string): readonly string[] {
  const [, before, hosts, behind] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/i.exec(url) ?? [];
  return hosts === undefined ? [url] : hosts.split(",").map((host) => before + host + behind);
}
