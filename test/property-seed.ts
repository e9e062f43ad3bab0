/**
 * Properties are tried on the same examples in every run, so that a change is what makes a test fail.
 * `GEOFERRY_TEST_SEED=7` looks elsewhere, `GEOFERRY_TEST_SEED=random` somewhere new each time: the failure message names the seed.
 */
import { configureGlobal } from "fast-check";

const asked = process.env.GEOFERRY_TEST_SEED ?? "20261122";
if (asked !== "random") configureGlobal({ seed: Number(asked) });
