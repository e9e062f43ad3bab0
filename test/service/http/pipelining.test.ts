import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { serializePipelinedRequests } from "../../../src/service/http/pipelining.js";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that delays each request, and records which requests it starts and which responses close. */
async function slow(milliseconds: number) {
  const begun: string[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    begun.push(request.url!);
    open.add(response);
    response.once("close", () => open.delete(response));
    setTimeout(() => response.end(`${request.url} `), milliseconds);
  });
  serializePipelinedRequests(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close().closeAllConnections());
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  const ask = (from: number, to: number, end = "") =>
    client.write(
      Array.from({ length: to - from }, (_, i) => `GET /${from + i} HTTP/1.1\r\nHost: a\r\n${end}\r\n`).join(""),
    );
  return { begun, open, client, ask };
}

test("pipelined requests are answered in order, however many", async () => {
  const { begun, client, ask } = await slow(1);
  let text = "";
  client.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  ask(0, 300);
  ask(300, 301, "Connection: close\r\n");
  await once(client, "end");
  const wanted = Array.from({ length: 301 }, (_, i) => `/${i}`);
  expect(text.match(/\/\d+(?= )/g)).toEqual(wanted);
  expect(begun).toEqual(wanted);
});

test("pipelined requests of a closed connection are not started, and earlier ones release their resources", async () => {
  const { begun, open, client, ask } = await slow(50);
  ask(0, 150);
  await sleep(80);
  client.destroy();
  await sleep(300);
  expect(begun.length).toBeLessThan(5);
  expect(open.size).toBe(0);
});
