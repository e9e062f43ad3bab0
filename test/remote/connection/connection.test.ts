/** Resolves the URLs of a service and the connection to use. */
import { describe, expect, test } from "vitest";
import {
  acceptEncodingHeader,
  type Connection,
  resolveServiceUrls,
} from "../../../src/remote/connection/connection.js";
import { resolveConnection, type ServiceConnectionOptions } from "../../../src/remote/connection/resolve-connection.js";

describe("service URLs", () => {
  test.each<[string, string, string]>([
    ["https://maps.example.org", "https://maps.example.org/token", "https://maps.example.org/api/v1"],
    ["HTTPS://Maps.Example.org:443/", "https://maps.example.org/token", "https://maps.example.org/api/v1"],
    ["https://example.org/maps//", "https://example.org/maps/token", "https://example.org/maps/api/v1"],
    ["http://localhost:8080", "http://localhost:8080/token", "http://localhost:8080/api/v1"],
    ["http://127.1.2.3:80/x", "http://127.1.2.3/x/token", "http://127.1.2.3/x/api/v1"],
    ["http://[::1]:8080", "http://[::1]:8080/token", "http://[::1]:8080/api/v1"],
  ])("%s is a valid base URL", (url, token, api) => {
    expect(resolveServiceUrls({ url })).toMatchObject({ token, api });
  });

  test.each<[string, string]>([
    ["http://localhost:8080", "identity"],
    ["http://127.1.2.3/x", "identity"],
    ["https://[::1]:8080", "identity"],
    ["https://maps.example.org", "br, gzip, deflate"],
    ["http://10.0.0.1", "br, gzip, deflate"],
  ])("%s requests compressed responses only from other machines", (base, encodings) => {
    expect(acceptEncodingHeader(base)).toEqual({ "accept-encoding": encodings });
  });

  test.each<[string, string]>([
    ["http://maps.example.org", "remote-insecure"],
    ["http://127.0.0.1.example.org", "remote-insecure"],
    ["http://10.0.0.1", "remote-insecure"],
    ["https://ada:hidden@maps.example.org", "remote-address"],
    ["https://maps.example.org?key=hidden", "remote-address"],
    ["https://maps.example.org/#hidden", "remote-address"],
    ["http://ada:hidden#@maps.example.org", "remote-address"],
    ["ada:hidden@maps.example.org", "remote-address"],
    ["maps.example.org", "remote-address"],
    ["ftp://maps.example.org", "remote-address"],
    ["", "remote-address"],
  ])("%s is rejected as a base URL", (url, code) => {
    const failure = (() => {
      try {
        return resolveServiceUrls({ url });
      } catch (error) {
        return error as Error;
      }
    })();
    expect(failure).toMatchObject({ code, kind: "usage" });
    expect((failure as Error).message).not.toContain("hidden");
  });

  test("http is allowed with insecureHttp", () => {
    expect(resolveServiceUrls({ url: "http://10.0.0.1", insecureHttp: true }).base).toBe("http://10.0.0.1");
  });
});

describe("resolveConnection", () => {
  const profile = (url: string, clientId: string): Connection => ({ url, clientId, clientSecret: `of ${clientId}` });
  const usual = profile("https://a.example.org", "a");
  const work = { ...profile("https://b.example.org", "b"), apiPath: "/v1", insecureHttp: true };
  const twin = profile("https://b.example.org/", "twin");
  const own = { clientId: "own", clientSecret: "of own" };

  const choose = (options: ServiceConnectionOptions, profiles: Record<string, Connection> = { default: usual, work }) =>
    resolveConnection(options, new Map(Object.entries(profiles)), "profiles.json");

  test.each<[string, ServiceConnectionOptions, object]>([
    ["of the profile default", {}, { ...usual, profile: "default" }],
    ["of the profile that is named", { profile: "work" }, { ...work, profile: "work" }],
    ["of the profile with this address", { url: "https://B.example.org/" }, { clientId: "b", profile: "work" }],
    ["of the environment", { url: "https://c.example.org", ...own }, { url: "https://c.example.org", ...own }],
    ["of the environment at a profile's address", own, { url: usual.url, ...own, profile: null }],
    [
      "of the environment with a profile's paths",
      { ...own, profile: "work" },
      { url: work.url, ...own, apiPath: "/v1" },
    ],
    [
      "of a profile at an address in a file",
      { recordedUrl: "https://B.example.org/" },
      { clientId: "b", profile: "work" },
    ],
    [
      "of the environment at a profile's address in a file",
      { recordedUrl: work.url, ...own },
      { url: work.url, ...own },
    ],
    [
      "that is given, not that in a file",
      { url: "https://c.example.org", recordedUrl: "https://d.example.org", ...own },
      { url: "https://c.example.org", ...own },
    ],
    ["with a path of the environment", { profile: "work", apiPath: "/v2" }, { apiPath: "/v2" }],
  ])("resolveConnection chooses the service %s", (_name, options, expected) => {
    expect(choose(options)).toMatchObject(expected);
  });

  test.each<[string, ServiceConnectionOptions, Record<string, Connection>, string, string]>([
    ["no service is given", {}, {}, "remote-unknown", "no service is given; save the address"],
    ["there is no default profile", {}, { work }, "remote-unknown", "choose one with --profile: work"],
    [
      "another address is given than that of the profile",
      { url: "https://c.example.org", profile: "work" },
      { work },
      "usage",
      "the profile work is for https://b.example.org, but --url or GEOFERRY_URL is https://c.example.org",
    ],
    [
      "there are no credentials for the address",
      { url: "https://c.example.org" },
      { default: usual, work },
      "remote-unknown",
      "there are no credentials for https://c.example.org",
    ],
    [
      "only a file names the address to send credentials of the environment to",
      { recordedUrl: "https://c.example.org", ...own },
      { default: usual, work },
      "remote-unconfirmed",
      "add --url https://c.example.org",
    ],
    [
      "a file names another address than the profile",
      { recordedUrl: "https://c.example.org", ...own, profile: "work" },
      { work },
      "usage",
      "the profile work is for https://b.example.org",
    ],
    [
      "several profiles are for it",
      { url: "https://b.example.org" },
      { work, twin },
      "usage",
      "work, twin; choose one with --profile",
    ],
    [
      "there is no such profile",
      { profile: "wrok" },
      { work },
      "remote-profile",
      "has no profile wrok (available: work)",
    ],
    ["a secret is missing", { clientId: "x" }, { default: usual }, "usage", "GEOFERRY_CLIENT_SECRET is not"],
    ["an id is missing", { clientSecret: "x" }, { default: usual }, "usage", "GEOFERRY_CLIENT_ID is not"],
  ])("resolveConnection throws an error if %s", (_name, options, profiles, code, words) => {
    expect(() => choose(options, profiles)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });
});
