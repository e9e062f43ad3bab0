import { idempotencyLifetime } from "../contract.js";
import type { Connection } from "./connection.js";
import type { Operations } from "./operations.js";

export function upkeep(db: Connection): Operations<"purge"> {
  return {
    purge: (now) => {
      db.run("DELETE FROM tokens WHERE expires <= ?", now);
      db.run("DELETE FROM sessions WHERE expires <= ?", now);
      db.run("DELETE FROM setup_token WHERE expires <= ?", now);
      db.run("DELETE FROM attempts WHERE until <= ?", now);
      db.run("DELETE FROM outcomes WHERE at <= ?", now - idempotencyLifetime);
    },
  };
}
