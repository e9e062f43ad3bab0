/** The routes of maps, an extension of the specification. */
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

describe("maps", () => {
  describeOnEveryStore((service) => {
    const create = (body: unknown, as = service().ann) => service().send("POST", "/api/v1/maps", { as, body });
    const list = async (query = "", as = service().ann) => {
      const { json } = await service().send("GET", `/api/v1/maps${query}`, { as });
      return (json.maps as unknown as { id: string; name: string }[]).map(({ name }) => name);
    };

    test("are created empty and, by default, private", async () => {
      const { status, headers, json } = await create({ name: "Bäume 🌳" });
      expect(status).toBe(201);
      expect(json).toEqual({
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        name: "Bäume 🌳",
        private: true,
        owner: { name: "Ann of Parks", email: service().ann.email },
        features: 0,
        revision: 0,
        created: new Date(service().now).toISOString(),
      });
      expect(headers.location).toMatch(new RegExp(`^http://[^/]+/api/v1/maps/${json.id}$`));
      const { json: read } = await service().send("GET", `/api/v1/maps/${json.id}`);
      expect(read).toEqual(json);
      expect((await create({ name: "b", private: false })).json.private).toBe(false);
    });

    test("show others the owner's display name, never the email address", async () => {
      const { ann, bob } = service();
      const shared = (await create({ name: "Shared", private: false }, bob)).json;
      const read = async (as: typeof ann) => (await service().send("GET", `/api/v1/maps/${shared.id}`, { as })).json;
      const name = `Account ${bob.account.slice(-6)}`;
      expect((await read(bob)).owner).toEqual({ name, email: bob.email });
      expect((await read(ann)).owner).toEqual({ name });
      const all = await service().send("GET", "/api/v1/maps?readable=true&per_page=500");
      expect(all.text).toContain(name);
      expect(all.text).not.toContain(bob.email);
    });

    test.each([
      [{}],
      [[]],
      [{ name: "" }],
      [{ name: " a" }],
      [{ name: "a\n" }],
      [{ name: 7 }],
      [{ name: "a\u0000" }],
      [{ name: "\u009b31mred" }],
      [{ name: "x".repeat(201) }],
      [{ name: "a", private: "no" }],
      [{ name: "\ud800" }],
    ])("are not created from the invalid body %j", async (body) => {
      const { status, json } = await create(body);
      expect([status, json.code]).toEqual([422, "invalid-body"]);
    });

    test("are listed by name: the account's own, and with readable also public ones of others", async () => {
      await create({ name: "Alpha" });
      await create({ name: "Beta", private: true }, service().bob);
      await create({ name: "Gamma", private: false }, service().bob);
      expect(await list()).toEqual(["Alpha", "Places"]);
      const readable = await list("?readable=true");
      expect(readable).toEqual(expect.arrayContaining(["Alpha", "Places", "Gamma"]));
      expect(await list("?readable=false", service().bob)).toEqual(["Beta", "Gamma"]);
      expect((await service().send("GET", "/api/v1/maps?readable=1")).status).toBe(400);
    });

    test("are listed in pages that link to the next, even if maps are deleted in between", async () => {
      for (const name of ["Zoo 1", "Zoo 2", "Zoo 2", "Zoo 3"]) await create({ name });
      const whole = await list();
      expect((await service().send("GET", "/api/v1/maps")).headers.link).toBeUndefined();
      expect(await list("?page=2&per_page=2")).toEqual(whole.slice(2, 4));
      expect(await list("?page=900&per_page=500")).toEqual([]);
      const found: string[] = [];
      let path = "/api/v1/maps?per_page=2";
      for (;;) {
        const { json, headers } = await service().send("GET", path);
        const maps = json.maps as unknown as { id: string; name: string }[];
        found.push(...maps.map(({ name }) => name));
        const next = /^<http:\/\/[^/]+(\/[^>]+)>; rel="next"$/.exec(String(headers.link))?.[1];
        if (next === undefined) break;
        if (found.at(-1) === "Zoo 2") await service().send("DELETE", `/api/v1/maps/${maps.at(-1)!.id}`);
        path = next;
      }
      expect(found).toEqual(whole);
      expect((await service().send("GET", "/api/v1/maps?readable=true&per_page=1")).headers.link).toMatch(
        /readable=true/,
      );
      for (const query of ["page=0", "per_page=501", "per_page=0", "after=7", "after=", "page=1&after=AAAA"]) {
        const { status, json } = await service().send("GET", `/api/v1/maps?${query}`);
        expect([query, status, json.code]).toEqual([query, 400, "bad-query"]);
      }
    });

    test("return 404 for others if they are private", async () => {
      const { json } = await create({ name: "a", private: true });
      const path = `/api/v1/maps/${json.id}`;
      const { bob: as } = service();
      for (const [method, body] of [["GET"], ["PATCH", { name: "b" }], ["DELETE"]] as const) {
        const answer = await service().send(method, path, { as, ...(body && { body }) });
        expect([answer.status, answer.json.code]).toEqual([404, "map-not-found"]);
      }
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        expect((await service().send(method, `${path}/features`, { as, body: { features: [point()] } })).status).toBe(
          404,
        );
      }
    });

    test("are renamed and made private by their owner", async () => {
      const path = `/api/v1/maps/${service().map}`;
      const { status, json } = await service().send("PATCH", path, { body: { name: "Other", private: true } });
      expect([status, json]).toMatchObject([200, { name: "Other", private: true, revision: 1 }]);
      expect((await service().send("PATCH", path, { body: { private: false } })).json).toMatchObject({ name: "Other" });
      for (const body of [{}, { name: "" }, { private: null }]) {
        expect((await service().send("PATCH", path, { body })).status).toBe(422);
      }
    });

    test("are not changed or deleted by others", async () => {
      const path = `/api/v1/maps/${service().map}`;
      const { bob: as } = service();
      expect((await service().send("PATCH", path, { as, body: { name: "x" } })).status).toBe(403);
      expect((await service().send("DELETE", path, { as })).status).toBe(403);
      expect((await service().send("GET", path, { as })).json.name).toBe("Places");
    });

    test("are deleted with all their features", async () => {
      await service().create(point(), point());
      const path = `/api/v1/maps/${service().map}`;
      const { status, json } = await service().send("DELETE", path);
      expect([status, json.features]).toEqual([200, 2]);
      expect((await service().send("GET", path)).status).toBe(404);
      expect((await service().features("GET")).status).toBe(404);
      expect((await service().features("POST", { features: [point()] })).status).toBe(404);
    });

    test("report their number of features and their revision", async () => {
      const path = `/api/v1/maps/${service().map}`;
      await service().create(point(), point());
      expect((await service().send("GET", path)).json).toMatchObject({ features: 2, revision: 1 });
    });

    test("have their changes and writes in the audit log", async () => {
      const { json } = await create({ name: "a" });
      const path = `/api/v1/maps/${json.id}`;
      await service().send("POST", `${path}/features`, { body: { features: [point()] } });
      await service().send("PATCH", path, { body: { name: "b" } });
      await service().send("DELETE", path);
      const log = await service().store.auditEntries({ account: service().ann.account, limit: 4 });
      expect(log.map(({ action }) => action)).toEqual([
        "map-deleted",
        "map-changed",
        "features-written",
        "map-created",
      ]);
      const { address, ann } = service();
      for (const entry of log) expect(entry).toMatchObject({ map: json.id, address, account: ann.account });
      expect(log.map(({ detail }) => detail)).toMatchObject([
        { name: "b", features: 1 },
        { name: "b" },
        { created: 1 },
        { name: "a", private: true },
      ]);
    });

    test("require a token", async () => {
      for (const path of ["/api/v1/maps", `/api/v1/maps/${service().map}`]) {
        expect((await service().send("GET", path, { as: null })).status).toBe(401);
      }
      expect((await service().send("POST", "/api/v1/maps", { as: null, body: { name: "a" } })).status).toBe(401);
    });
  });
});
