/** Makes the checkout ready: installs what package-lock.json names, where it is not there yet. Run before `npm test` and `npm run demo`. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isInstalled = (name) => existsSync(join(root, "node_modules", name, "package.json"));
if (!["typescript", "rolldown"].every(isInstalled)) {
  const installed = spawnSync("npm", ["ci"], { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  if (installed.status !== 0) process.exit(installed.status ?? 1);
}
const built = spawnSync("npm", ["run", "--silent", "build"], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(built.status ?? 1);
