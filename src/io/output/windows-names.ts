/** File names that Windows takes for a device or for a stream of a file (Microsoft, "Naming Files, Paths, and Namespaces"). */

/** Names of devices, with any extension: `aux.geojson` is a serial port. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\.|$)/i;

/** Characters that names cannot contain on Windows, for a character class of a regular expression; without separators. */
export const reservedInNames = '<>:"|?*\\u0000-\\u001f';
const reservedCharacter = new RegExp(`[${reservedInNames}]`);

/** Why Windows does not take a path as that of a file, or null: "CON is a device". */
export function windowsNameProblem(path: string): string | null {
  // A drive, a share (\\server\share) and the prefix of long paths (\\?\) may have what names may not.
  const names = path.replace(/^([\\/]{2}[?.][\\/])?([a-z]:)?/i, "").split(/[\\/]/);
  for (const name of names) {
    if (name === "." || name === "..") continue;
    const [reserved] = reservedCharacter.exec(name) ?? [];
    if (reserved !== undefined) return `a name on Windows cannot contain ${JSON.stringify(reserved)}`;
    const device = deviceName.exec(name)?.[1];
    if (device !== undefined) return `${device} is the name of a device on Windows`;
    if (/[. ]$/.test(name)) return `Windows drops the ${name.endsWith(".") ? "dot" : "blank"} at the end of "${name}"`;
  }
  return null;
}

/** A name that is not a device: with an underscore where it is one. */
export const avoidDeviceName = (name: string): string => (deviceName.test(name) ? `_${name}` : name);
