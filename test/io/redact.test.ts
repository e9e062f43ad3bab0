import { expect, test } from "vitest";
import { redact, redactUrl } from "../../src/io/redact.js";

const none = { findByAddress: () => undefined };

test.each([
  ["https://user:secret@example.org/a.csv?key=secret#secret", "https://example.org/a.csv"],
  ["http://u:sec/ret@example.org/a.csv", "http://example.org/a.csv"],
  ["http://u:secret#@example.org/a.csv?key=secret", "http://example.org/a.csv"],
  ["http:/u:secret@example.org/a.csv", "http:/example.org/a.csv"],
  ["http:\\\\u:secret@example.org/a.csv", "http:\\\\example.org/a.csv"],
  ["\thttp://u:secret@example.org/a.csv", "\thttp://example.org/a.csv"],
  ["zip:http://u:secret@example.org/a.zip", "zip:http://example.org/a.zip"],
  ["/vsicurl/http://u:secret@example.org/a.csv", "/vsicurl/http://example.org/a.csv"],
])("%j is displayed as %j", (name, displayed) => {
  expect(redact(name, none)).toBe(displayed);
});

test.each(["https://example.org/world-atlas@2/land.json", "data/a@b:c.csv", "C:\\data\\a@b.csv", "a?b.csv"])(
  "%j has no secret and is displayed unchanged",
  (name) => {
    expect(redact(name, none)).toBe(name);
  },
);

test("inputs that are not files are redacted", () => {
  expect(redactUrl("https://u:p@example.org:8443/maps?token=1")).toBe("https://example.org:8443/maps");
});
