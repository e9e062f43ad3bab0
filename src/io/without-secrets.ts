/** Addresses as they may be told: in messages, reports and on pages. */

/** An address without what may be secret: user, password, query, fragment. */
export function withoutSecrets(address: string): string {
  return address.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}

/** An input or output: an address without its secrets, a path as it is. */
export function tellable(name: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) return withoutSecrets(name);
  // pg:"host=… password=…", in the words of libpq.
  return /^pg:/i.test(name) ? name.replace(/(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&"]+)/gi, "$1…") : name;
}
