/**
 * What every store of the service must do. A store passes with
 *
 *     storeContract("sqlite", async (reading) => openSqliteStore(newPath(), undefined, reading));
 *
 * where the function opens an empty store, which the suite closes, and which reads keys in the steps that it is told.
 */
import { afterAll, afterEach, describe } from "vitest";
import type { Store } from "../../../src/service/store/contract.js";
import type { KeyReading } from "../../../src/service/store/reading-keys.js";
import { describeConcurrency } from "./contract/concurrency.js";
import { describeIdempotency } from "./contract/idempotency.js";
import { describeKeys } from "./contract/keys.js";
import { describeMaps } from "./contract/maps.js";
import { describeModel } from "./contract/model.js";
import { describePageEnds } from "./contract/page-ends.js";
import { describePages } from "./contract/pages.js";
import { describePeople } from "./contract/people.js";
import { describeReadingKeys, impatient, steadfast } from "./contract/reading-keys.js";
import { describeWrites } from "./contract/writes.js";

/** Opens a store for a test. */
export type Opening = () => Promise<Store>;

export function storeContract(name: string, open: (reading?: KeyReading) => Promise<Store>): void {
  describe(`the ${name} store`, () => {
    const opened: Store[] = [];
    const empty: Opening = async () => {
      const store = await open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store[Symbol.asyncDispose]();
    });

    let kept: Promise<Store> | undefined;
    /** One for all tests that make maps of their own. */
    const shared: Opening = () => {
      kept ??= open();
      return kept;
    };
    let stepwise: Promise<Store> | undefined;
    const sharedStepwise: Opening = () => {
      stepwise ??= open(impatient);
      return stepwise;
    };
    let alone: Promise<Store> | undefined;
    const sharedSteadfast: Opening = () => {
      alone ??= open(steadfast);
      return alone;
    };
    afterAll(async () => {
      await (await alone)?.[Symbol.asyncDispose]();
      await (await kept)?.[Symbol.asyncDispose]();
      await (await stepwise)?.[Symbol.asyncDispose]();
    });

    describePeople(empty);
    describeMaps(empty);
    describePages(shared);
    describePageEnds(shared);
    describeWrites(shared);
    describeKeys(shared);
    describeReadingKeys(sharedStepwise, sharedSteadfast);
    describeIdempotency(shared);
    describeConcurrency(shared);
    describeModel(shared);
  });
}
