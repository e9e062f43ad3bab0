/** One request on the wire: responses, failures and requests that were never sent. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { brotliCompressSync, deflateSync, gzip, gzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { NoResponseError, type ServiceRequest, sendRequest } from "../../../src/remote/http/send-request.js";
import { plain, type Reply, ScriptedServer } from "../scripted-server.js";

const never = new AbortController().signal;
let server: ScriptedServer;

beforeAll(async () => {
  server = await ScriptedServer.start();
});

const get = (changes: Partial<ServiceRequest> = {}): ServiceRequest => ({
  method: "GET",
  url: server.url,
  headers: {},
  ...changes,
});
const ask = (reply: Reply, request = get()) => {
  server.answer(reply);
  return sendRequest(request, { timeout: 20_000 }, never);
};
const failure = (pending: Promise<unknown>): Promise<NoResponseError> =>
  pending.then(
    () => expect.unreachable("there was an answer"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(NoResponseError);
      return error as NoResponseError;
    },
  );

describe("bodies", () => {
  const text = JSON.stringify({ name: "Zürich, 東京", many: "x".repeat(300_000) });

  test.each<[string, string, (bytes: Buffer) => Buffer]>([
    ["gzip", "gzip", gzipSync],
    ["gzip by its old name", "x-gzip", gzipSync],
    ["deflate", "deflate", deflateSync],
    ["br", "br", brotliCompressSync],
    ["two, one after the other", "gzip, br", (bytes) => brotliCompressSync(gzipSync(bytes))],
    ["identity", "identity", (bytes) => bytes],
  ])("sendRequest decodes a body in %s", async (_name, encoding, encode) => {
    const answer = await ask((response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(encode(Buffer.from(text))),
    );
    expect(answer.text).toBe(text);
  });

  test("sendRequest removes a byte order mark", async () => {
    expect((await ask(plain(200, "\ufeff{}"))).json).toEqual({});
  });

  test("sendRequest ignores the encoding of an empty body", async () => {
    const answer = await ask(plain(304, "", { "content-encoding": "gzip" }));
    expect(answer).toMatchObject({ status: 304, text: "" });
  });

  test.each<[string, Buffer, string]>([
    ["cut short", gzipSync(text).subarray(0, 100), "the compressed response ends too early"],
    ["damaged", Buffer.from(text), "the compressed response is damaged"],
  ])("a compressed body that is %s is a failure", async (_name, bytes, reason) => {
    const pending = ask((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bytes));
    expect(await failure(pending)).toMatchObject({ failure: { reason, isTransient: true }, isUnsent: false });
  });

  test("a body that is too large after decompression is a permanent failure", async () => {
    const bomb = await promisify(gzip)(Buffer.alloc(257 << 20));
    const pending = ask((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    expect(await failure(pending)).toMatchObject({
      failure: { reason: "the response has more than 268435456 bytes", isTransient: false },
    });
  });

  test.each(["POST", "PUT", "PATCH", "DELETE"] as const)(
    "sendRequest sends the whole body of a %s in UTF-8",
    async (method) => {
      const body = JSON.stringify({ name: "東京".repeat(200_000) });
      await ask(plain(200), get({ method, body }));
      expect(server.received[0]!.body).toBe(body);
      expect(server.received[0]!.headers).toMatchObject({ "content-length": String(Buffer.byteLength(body)) });
    },
  );
});

test("sendRequest sends a User-Agent", async () => {
  await ask(plain(200));
  expect(server.received[0]!.headers["user-agent"]).toBe("geoferry");
});

test("sendRequest reuses connections", async () => {
  const ports = new Set<number | undefined>();
  const reply: Reply = (response) => {
    ports.add(response.socket?.remotePort);
    response.end("{}");
  };
  for (let i = 0; i < 5; i++) await ask(reply, get({ method: "POST", body: "{}" }));
  expect(ports.size).toBe(1);
});

/** Closes idle connections independently of the test's thread, then wakes it. */
const impatient = `
  const { createServer } = require("node:http");
  const { parentPort, workerData: closed } = require("node:worker_threads");
  // This header suppresses the Keep-Alive hint with the timeout.
  const server = createServer((_, response) => response.writeHead(200, { connection: "keep-alive" }).end("{}"));
  server.keepAliveTimeout = 50;
  server.on("connection", (socket) =>
    socket.on("close", () => {
      Atomics.store(closed, 0, 1);
      Atomics.notify(closed, 0);
    }),
  );
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

test("sendRequest does not reuse a connection that was closed while the process was busy", async () => {
  const closed = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(impatient, { eval: true, workerData: closed });
  try {
    const [port] = (await once(worker, "message")) as [number];
    const post = get({ method: "POST", url: `http://127.0.0.1:${port}`, body: "{}" });
    await sendRequest(post, { timeout: 20_000 }, never);
    expect(Atomics.wait(closed, 0, 0, 20_000)).not.toBe("timed-out");
    expect(await sendRequest(post, { timeout: 20_000 }, never)).toMatchObject({ status: 200 });
  } finally {
    await worker.terminate();
  }
});

describe("timeouts", () => {
  test("a timeout within a response ends the request", async () => {
    server.answer((response) => response.writeHead(200).write("{"));
    expect(await failure(sendRequest(get(), { timeout: 100, minimumRate: 0 }, never))).toMatchObject({
      failure: { reason: "the server sends nothing for 0.1 s (--timeout)", isTransient: true },
      isUnsent: false,
      isTimeout: true,
    });
  });

  test("a slow response continues above the minimum rate", async () => {
    let rest = 20;
    server.answer((response) => {
      response.writeHead(200);
      const timer = setInterval(() => {
        response.write(" ".repeat(1000));
        if (rest-- > 0) return;
        clearInterval(timer);
        response.end("{}");
      }, 25);
    });
    expect((await sendRequest(get(), { timeout: 200, minimumRate: 1000 }, never)).json).toEqual({});
  });

  test.each<[string, string]>([
    ["sends a byte now and then", "/"],
    ["sends a byte of its head now and then", "/head"],
  ])("times out if the server %s", async (_name, path) => {
    server.answer((response, { path: pending }) => {
      const socket = response.socket!;
      socket.write(pending === "/head" ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 200 OK\r\n\r\n");
      const timer = setInterval(() => socket.write("a"), 20).unref();
      socket.once("close", () => clearInterval(timer));
    });
    const pending = sendRequest(get({ url: server.url + path }), { timeout: 200 }, never);
    expect(await failure(pending)).toMatchObject({ isTimeout: true, isUnsent: false });
  });

  test("times out if the server does not read the request", async () => {
    const port = createServer((socket) => socket.pause());
    await once(port.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(port.address() as AddressInfo).port}`;
    const large = get({ method: "POST", url, body: "x".repeat(30 << 20) });
    expect(await failure(sendRequest(large, { timeout: 200 }, never))).toMatchObject({
      failure: { reason: expect.stringMatching(/^the server takes nothing for 0\.2 s/) },
    });
    port.close();
  });

  test("an abort ends the request immediately", async () => {
    const stop = new AbortController();
    server.answer((response) => {
      response.writeHead(200).write("{", () => stop.abort(new Error("enough")));
    });
    await expect(sendRequest(get(), { timeout: 20_000 }, stop.signal)).rejects.toThrow("enough");
    await expect(sendRequest(get(), { timeout: 20_000 }, stop.signal)).rejects.toThrow("enough");
    expect(server.received).toHaveLength(1);
  });
});

/** A server that does not speak HTTP. */
describe("unexpected servers", () => {
  let port: Server;
  const sockets = new Set<Socket>();

  async function listen(take: (socket: Socket) => void): Promise<string> {
    port = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      take(socket);
    });
    await once(port.listen(0, "127.0.0.1"), "listening");
    return `127.0.0.1:${(port.address() as AddressInfo).port}`;
  }
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    port.close();
  });

  const post = (url: string) => get({ method: "POST", url, body: "{}" });

  test("a TLS handshake that does not finish means that nothing was sent", async () => {
    const host = await listen(() => {});
    expect(await failure(sendRequest(post(`https://${host}`), { connectTimeout: 100 }, never))).toMatchObject({
      failure: { reason: "there is no connection within 0.1 s (--connect-timeout)", isTransient: true },
      isUnsent: true,
    });
  });

  test("a connection closed before the TLS handshake means that nothing was sent", async () => {
    const host = await listen((socket) => socket.destroy());
    expect(await failure(sendRequest(post(`https://${host}`), { timeout: 20_000 }, never))).toMatchObject({
      failure: { isTransient: true, isUntrusted: false },
      isUnsent: true,
    });
  });

  test("a connection closed after it was established may have sent the request", async () => {
    const host = await listen((socket) => socket.destroy());
    expect(await failure(sendRequest(post(`http://${host}`), { timeout: 20_000 }, never))).toMatchObject({
      failure: { reason: "the server closed the connection", isTransient: true },
      isUnsent: false,
    });
  });

  test.each<[string, string]>([
    ["that speaks something else", "220 mail.example.org ESMTP\r\n"],
    [
      "that wants to speak something else",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
    ],
    ["that says nothing more than 'go on'", "HTTP/1.1 100 Continue\r\n\r\n"],
  ])("a server %s gives no response", async (_name, words) => {
    const host = await listen((socket) => socket.on("data", () => socket.end(words)));
    expect(await failure(sendRequest(post(`http://${host}`), { timeout: 20_000 }, never))).toMatchObject({
      isUnsent: false,
    });
  });

  test("sendRequest accepts a response that arrives before the request was read", async () => {
    const refusal = "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    const host = await listen((socket) => socket.once("data", () => socket.pause().write(refusal)));
    const large = { ...post(`http://${host}`), body: "x".repeat(20 << 20) };
    expect(await sendRequest(large, { timeout: 20_000 }, never)).toMatchObject({ status: 413, text: "{}" });
  });

  const refusal = "HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
  const cut = refusal.length - 2;
  test.each<[string, (socket: Socket) => void]>([
    ["at once", (socket) => socket.write(refusal, () => socket.resetAndDestroy())],
    ["a little later", (socket) => socket.write(refusal, () => setTimeout(() => socket.resetAndDestroy(), 5))],
    ["with much unread", (socket) => socket.write(refusal, () => socket.destroy())],
    [
      "when the second half of the answer has gone",
      (socket) => {
        socket.write(refusal.slice(0, cut));
        setTimeout(() => socket.write(refusal.slice(cut), () => socket.resetAndDestroy()), 5);
      },
    ],
  ])("sendRequest accepts an early response if the server closes the connection %s", async (_name, refuse) => {
    const host = await listen((socket) => socket.once("data", () => refuse(socket.pause())));
    const large = { ...post(`http://${host}`), body: "x".repeat(20 << 20) };
    for (let tries = 0; tries < 10; tries++)
      expect(await sendRequest(large, { timeout: 20_000 }, never)).toMatchObject({ status: 413, text: "{}" });
  });

  test.each(["close", "keep-alive"])(
    "closes the connection if the server stops reading after its response (%s)",
    async (after) => {
      const refusal = `HTTP/1.1 413 Content Too Large\r\ncontent-length: 2\r\nconnection: ${after}\r\n\r\n{}`;
      let end: (how: unknown) => void;
      const ended = new Promise((resolve) => {
        end = resolve;
      });
      const host = await listen((socket) => {
        socket.once("error", end).once("close", end);
        // The unsent data delays the close; writing shows that the peer is gone.
        const ping = setInterval(() => socket.write(" "), 50);
        socket.once("close", () => clearInterval(ping));
        socket.once("data", () => socket.pause().write(refusal));
      });
      const large = { ...post(`http://${host}`), body: "x".repeat(20 << 20) };
      expect(await sendRequest(large, { timeout: 20_000 }, never)).toMatchObject({ status: 413, text: "{}" });
      await ended;
    },
  );

  test("reads a response without a length until the end", async () => {
    const host = await listen((socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\n{}")));
    expect(await sendRequest(post(`http://${host}`), { timeout: 20_000 }, never)).toMatchObject({
      status: 200,
      text: "{}",
    });
  });
});

test("nothing was sent to an address without a listener", async () => {
  const gone = createServer();
  await once(gone.listen(0, "127.0.0.1"), "listening");
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  expect(
    await failure(sendRequest(get({ url: `http://127.0.0.1:${port}` }), { timeout: 20_000 }, never)),
  ).toMatchObject({
    failure: { reason: "the server refuses the connection", isTransient: true },
    isUnsent: true,
  });
});

test("nothing was sent to an unknown host", async () => {
  const pending = sendRequest(get({ url: "http://no-such-host.invalid" }), { timeout: 20_000 }, never);
  expect(await failure(pending)).toMatchObject({ isUnsent: true });
});
