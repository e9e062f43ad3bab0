/** Whom the client takes for the service, over https. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { usualTraffic } from "../../src/remote/map-client.js";
import { openService } from "../../src/remote/service.js";
import { equip, plainEnvironment, Running, scratchFolder } from "../service/running.js";
import { geoferry, has } from "../support/command.js";

describe("a certificate", { skip: !has("openssl") }, () => {
  const folder = scratchFolder();
  const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
  let client: ReturnType<typeof equip>;
  let url: string;

  beforeAll(async () => {
    const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -out ${cert} -keyout ${key}`;
    expect(spawnSync("openssl", line.split(" ")).status).toBe(0);
    const store = ["--data", folder.data()];
    client = equip(store);
    const running = await Running.start([...store, "--tls-cert", cert, "--tls-key", key]);
    url = `https://localhost:${new URL(running.listening).port}`;
  });

  test("that nobody vouches for ends it at once: nothing secret is sent", async () => {
    const service = openService({ url, ...client }, usualTraffic, new AbortController().signal);
    await expect(service.map(client.map).create(["{}"], "key")).rejects.toMatchObject({
      code: "remote-untrusted",
      kind: "authentication",
      message: expect.stringContaining("the server's certificate is self-signed"),
    });
    expect(service.sent).toMatchObject({ POST: 0, token: 1 });
  });

  test("of an authority that is named is trusted", () => {
    const { status, stdout } = geoferry(["whoami", "--json"], {
      env: {
        ...plainEnvironment,
        NODE_EXTRA_CA_CERTS: cert,
        GEOFERRY_URL: url,
        GEOFERRY_CLIENT_ID: client.clientId,
        GEOFERRY_CLIENT_SECRET: client.clientSecret,
      },
    });
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 0, url, account: "ada@example.org" });
  });
});
