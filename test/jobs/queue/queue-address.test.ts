import { expect, test } from "vitest";
import { parseQueueAddress } from "../../../src/jobs/queue/queue-address.js";

test.each([
  "user:geheim@host:6379",
  "redis://:ge/heim@host",
  "redis://:ge#heim@host",
  "redis://:ge?heim@host",
  "redis://me:geheim@host:port",
  "redis://me:ge%zzheim@host",
  "http://me:geheim@host",
  "redis://me:ge@heim@host/words",
])("the error for the invalid queue address %s does not contain its password", (text) => {
  expect(() => parseQueueAddress(text)).toThrow(
    expect.objectContaining({ code: "queue-address", message: expect.not.stringMatching(/ge.?heim|ge\b|heim\b/) }),
  );
});
