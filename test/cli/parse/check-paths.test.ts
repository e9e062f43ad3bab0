/** Flags that take a file of this machine, and are given an address or `-`. */
import { expect, test } from "vitest";
import { geoferry } from "../../support/command.js";

test.each([
  ["plan a.csv --map 7c0 -o s3://bucket/a.plan", "--output"],
  ["plan a.csv --map 7c0 --html s3://bucket/a.html", "--html"],
  ["push a.csv --map 7c0 --rejects s3://bucket/bad.geojsonl", "--rejects"],
  ["push a.csv --map 7c0 --backup=https://example.org/kept/", "--backup"],
  ["apply s3://bucket/a.plan", "PLAN"],
  ["restore s3://bucket/backup.geojson", "BACKUPFILE"],
  ["run s3://bucket/job.yaml", "JOB"],
  ["run job.yaml --report s3://bucket/report.json", "--report"],
  ["run job.yaml --page S3://bucket/page.html", "--page"],
  ["run job.yaml --metrics s3://bucket/job.prom", "--metrics"],
  ["worker --queue redis://127.0.0.1:1 --state s3://bucket/state", "--state"],
  ["serve --data s3://bucket/data", "--data"],
  ["serve --tls-cert https://example.org/cert.pem --tls-key key.pem", "--tls-cert"],
  ["convert a.csv b.csv --grid s3://bucket/shift.gsb", "--grid"],
])("`%s` is rejected because of the address of a local file", (line, named) => {
  const { status, stderr } = geoferry(line.split(" "), { cwd: "/" });
  expect(status).toBe(2);
  expect(stderr).toContain(`geoferry: ${named} must be a local file or folder, and `);
});

test.each([
  ["diff a.csv b.csv --html -", "--html"],
  ["plan a.csv --map 7c0 -o -", "--output"],
  ["push a.csv --map 7c0 --rejects -", "--rejects"],
  ["convert a.csv b.csv --report -", "--report"],
  ["run -", "JOB"],
])("`%s` is rejected, since it would write or read a file named -", (line, named) => {
  const { status, stderr } = geoferry(line.split(" "), { cwd: "/" });
  expect(status).toBe(2);
  expect(stderr).toContain(`geoferry: ${named} needs the name of a file or folder, and - is none`);
});
