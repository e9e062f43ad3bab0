/** Many concurrent bodies that are small in transit and large in memory. */
import { expect, test } from "vitest";
import { createAccountWithMap, createScratchFolder, requestToken, ServiceProcess } from "../service-process.js";

const folder = createScratchFolder();

test("concurrent bodies of empty arrays, which take fifteen times their size once parsed, do not exhaust memory", async () => {
  const store = ["--data", folder.data()];
  const running = await ServiceProcess.start(store, { NODE_OPTIONS: "--max-old-space-size=250" });
  const { map, ...client } = await createAccountWithMap(store);
  const token = await requestToken(running.url, client);
  // Spaces prevent that the text is stored verbatim.
  const arrays = Array(2700).fill("[]").join(", ");
  const feature = `{"type":"Feature","geometry":null,"properties":{"a":[${arrays}]}}`;
  const body = `{"features":[${Array(900).fill(feature).join()}]}`;
  const post = async () => {
    const answer = await fetch(`${running.url}/api/v1/maps/${map}/features`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    return answer.status;
  };
  expect(await Promise.all(Array.from({ length: 5 }, post))).toEqual([201, 201, 201, 201, 201]);
  expect(await running.end()).toBe(0);
}, 120_000);
