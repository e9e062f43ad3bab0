import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { MetricsEndpoint } from "../../src/cli/output/metrics-endpoint.js";

test("a port in use is an error that names the flag for it", async () => {
  await using first = await MetricsEndpoint.open({ host: "127.0.0.1", port: 0 }, new Registry());
  const port = Number(new URL(first.url).port);
  await expect(MetricsEndpoint.open({ host: "127.0.0.1", port }, new Registry())).rejects.toMatchObject({
    code: "address-in-use",
    message: expect.stringContaining("choose another port with --metrics-port"),
  });
});
