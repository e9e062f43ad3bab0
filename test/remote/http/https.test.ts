/** Verifies server certificates over https. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { defaultTraffic } from "../../../src/remote/client/map-client.js";
import { createServiceClient } from "../../../src/remote/client/service-client.js";
import {
  cleanEnvironment,
  createAccountWithMap,
  createScratchFolder,
  ServiceProcess,
} from "../../service/service-process.js";
import { geoferry, hasProgram } from "../../support/command.js";

describe("server certificate", { skip: !hasProgram("openssl") }, () => {
  const folder = createScratchFolder();
  const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
  let client: Awaited<ReturnType<typeof createAccountWithMap>>;
  let url: string;

  beforeAll(async () => {
    const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -out ${cert} -keyout ${key}`;
    expect(spawnSync("openssl", line.split(" ")).status).toBe(0);
    const store = ["--data", folder.data()];
    client = await createAccountWithMap(store);
    const running = await ServiceProcess.start([...store, "--tls-cert", cert, "--tls-key", key]);
    url = `https://localhost:${new URL(running.listening).port}`;
  });

  test("an untrusted certificate fails without sending secrets", async () => {
    const service = createServiceClient({ url, ...client }, defaultTraffic, new AbortController().signal);
    await expect(service.map(client.map).create(["{}"], "key")).rejects.toMatchObject({
      code: "remote-untrusted",
      kind: "authentication",
      message: expect.stringContaining("the server's certificate is self-signed"),
    });
    expect(service.requestCount).toMatchObject({ POST: 0, token: 1 });
  });

  const whoami = (at: string) =>
    geoferry(["whoami", "--json", "--retries", "0"], {
      env: {
        ...cleanEnvironment,
        NODE_EXTRA_CA_CERTS: cert,
        GEOFERRY_URL: at,
        GEOFERRY_CLIENT_ID: client.clientId,
        GEOFERRY_CLIENT_SECRET: client.clientSecret,
      },
    });

  test("an http address is rejected with advice", () => {
    const { status, stderr } = whoami(url.replace("https:", "http:"));
    expect([status, stderr]).toEqual([8, expect.stringContaining("if it only accepts TLS, write https://")]);
  });

  test("plain http behind an https address fails without retries", async () => {
    const plain = await ServiceProcess.start(["--data", folder.data()]);
    const { status, stderr } = whoami(plain.listening.replace("http://127.0.0.1", "https://localhost"));
    expect([status, stderr]).toEqual([10, expect.stringContaining("the server does not use TLS")]);
    expect(stderr).toContain("write http://");
    expect(stderr).not.toContain("SSL routines");
  });

  test("the client trusts a certificate of a configured authority", () => {
    const { status, stdout } = whoami(url);
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 0, url, account: "ada@example.org" });
  });
});
