/** Server certificates for tests, created by openssl, each with its own authority. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Paths of PEM files. */
export interface Certificate {
  readonly authority: string;
  readonly file: string;
  readonly key: string;
}

/** For localhost and 127.0.0.1, valid for two days. */
export function makeCertificate(folder: string): Certificate {
  const at = (name: string) => join(folder, name);
  const made = { authority: at("authority.pem"), file: at("server.pem"), key: at("server.key") };
  const openssl = (...words: string[]) => execFileSync("openssl", words, { stdio: "ignore" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const authority = ["-subj", "/CN=Authority of tests", "-keyout", at("authority.key"), "-out", made.authority];
  openssl("req", "-x509", ...newKey, "-days", "2", ...authority);
  openssl("req", ...newKey, "-subj", "/CN=localhost", "-keyout", made.key, "-out", at("server.csr"));
  writeFileSync(at("names.ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const by = ["-CA", made.authority, "-CAkey", at("authority.key"), "-CAcreateserial"];
  openssl("x509", "-req", "-in", at("server.csr"), ...by, "-days", "2", "-extfile", at("names.ext"), "-out", made.file);
  return made;
}
