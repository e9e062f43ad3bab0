/** An independent OAuth client (oauth4webapi) discovers the service, and requests, uses and revokes tokens. */
import type { AddressInfo } from "node:net";
import * as oauth from "oauth4webapi";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, type Person, type ServiceFixture } from "./service-fixture.js";

const grantType = "client_credentials_with_user";
// The test listens on loopback without TLS.
const insecure = { [oauth.allowInsecureRequests]: true };

async function discovered({ app }: ServiceFixture): Promise<oauth.AuthorizationServer> {
  if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
  const issuer = new URL(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  const response = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
  return oauth.processDiscoveryResponse(issuer, response);
}

async function tokenFor(server: oauth.AuthorizationServer, person: Person, auth: oauth.ClientAuth) {
  const client: oauth.Client = { client_id: person.clientId };
  const response = await oauth.genericTokenEndpointRequest(server, client, auth, grantType, {}, insecure);
  return oauth.processGenericTokenEndpointResponse(server, client, response);
}

describe("an OAuth client", () => {
  describeOnEveryStore((service) => {
    const ways = { ClientSecretPost: oauth.ClientSecretPost, ClientSecretBasic: oauth.ClientSecretBasic };

    test.each(Object.entries(ways))("gets a token with %s, and reads with it", async (_name, way) => {
      const { ann, path } = service();
      const server = await discovered(service());
      const token = await tokenFor(server, ann, way(ann.clientSecret));
      expect(token).toMatchObject({ token_type: "bearer", expires_in: 3600 });
      const url = new URL(path, server.issuer);
      const answer = await oauth.protectedResourceRequest(
        token.access_token,
        "GET",
        url,
        undefined,
        undefined,
        insecure,
      );
      expect(await answer.json()).toEqual({ type: "FeatureCollection", features: [] });
    });

    test("receives the error for a wrong secret", async () => {
      const server = await discovered(service());
      for (const way of Object.values(ways)) {
        const refused = tokenFor(server, service().ann, way("gfs_wrong"));
        await expect(refused).rejects.toMatchObject({
          cause: [{ scheme: "basic", parameters: { realm: "geoferry" } }],
          status: 401,
        });
      }
    });

    test("revokes its token, and receives a challenge when it uses it again", async () => {
      const { ann, path } = service();
      const server = await discovered(service());
      const auth = oauth.ClientSecretPost(ann.clientSecret);
      const token = await tokenFor(server, ann, auth);
      const client = { client_id: ann.clientId };
      const ended = await oauth.revocationRequest(server, client, auth, token.access_token, insecure);
      await oauth.processRevocationResponse(ended);
      const url = new URL(path, server.issuer);
      const again = oauth.protectedResourceRequest(token.access_token, "GET", url, undefined, undefined, insecure);
      await expect(again).rejects.toMatchObject({
        cause: [{ scheme: "bearer", parameters: { realm: "geoferry", error: "invalid_token" } }],
      });
    });
  });
});
