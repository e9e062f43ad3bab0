/** SQLite from whichever driver this machine has. */
export {
  type Database,
  type SqliteDriver,
  SqliteError,
  type SqlValue,
  type Statement,
  sqliteErrorCode,
} from "./database.js";
export { loadNativeSqlite, loadSqlite } from "./load.js";
