/** The path of a member: `properties.ref`, `properties["a b"]`. */
export const memberPath = (path: string, name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
