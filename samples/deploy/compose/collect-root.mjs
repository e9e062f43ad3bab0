// Collects what an image needs to run geoferry: /root-folder has Node with its shared libraries and /opt/geoferry; the
// user of the image owns what is in /owned and /owned-temporary.
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const target = "/root-folder";
const copy = (path) => {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  cpSync(path, join(target, path), { recursive: true, dereference: !path.startsWith("/opt") });
};

copy("/usr/local/bin/node");
copy("/opt/geoferry");
// The loader is among them; the kernel's own (linux-vdso) has no path.
for (const path of process.report.getReport().sharedObjects)
  if (path.startsWith("/") && existsSync(path) && path !== process.execPath) copy(path);

// There is no /usr/bin/env, so that the command names Node itself.
const command = join(target, "usr/local/bin/geoferry");
writeFileSync(command, '#!/usr/local/bin/node\nimport("/opt/geoferry/node_modules/geoferry/dist/src/cli/main.js");\n');
chmodSync(command, 0o755);

mkdirSync(join(target, "etc"), { recursive: true });
writeFileSync(join(target, "etc/passwd"), "geoferry:x:1000:1000::/data:/usr/sbin/nologin\n");
writeFileSync(join(target, "etc/group"), "geoferry:x:1000:\n");
mkdirSync("/owned/data", { recursive: true, mode: 0o700 });
mkdirSync("/owned-temporary/tmp", { recursive: true });
chmodSync("/owned-temporary/tmp", 0o1777);
