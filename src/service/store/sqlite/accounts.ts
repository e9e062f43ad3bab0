import type { Account, AuditEntry, Credential, Session } from "../contract.js";
import { normalizeEmail } from "../normalized-email.js";
import type { Connection } from "./connection.js";
import type { SyncStoreMethods } from "./store-methods.js";

const accountColumns = "id, email, name, password_hash AS passwordHash, created";
const credentialColumns = "id, account, name, client_id AS clientId, created, last_used AS lastUsed, revoked";

/** Parameters: hash, now. */
const usableSetupToken = "setup_token WHERE hash = ? AND expires > ? AND NOT EXISTS (SELECT 1 FROM accounts)";

export function accountReadMethods(
  db: Connection,
): SyncStoreMethods<
  | "accountByEmail"
  | "accountById"
  | "accounts"
  | "credentialByClientId"
  | "credentials"
  | "session"
  | "canUseSetupToken"
  | "auditEntries"
> {
  return {
    accountByEmail: (email) =>
      db.get<Account>(`SELECT ${accountColumns} FROM accounts WHERE email_key = ?`, normalizeEmail(email)) ?? null,
    accountById: (id) => db.get<Account>(`SELECT ${accountColumns} FROM accounts WHERE id = ?`, id) ?? null,
    accounts: () => db.all<Account>(`SELECT ${accountColumns} FROM accounts ORDER BY email_key`),
    credentialByClientId: (clientId) =>
      db.get<Credential & { secretHash: Uint8Array }>(
        `SELECT ${credentialColumns}, secret_hash AS secretHash FROM credentials WHERE client_id = ?`,
        clientId,
      ) ?? null,
    credentials: (owner) =>
      db.all<Credential>(
        `SELECT ${credentialColumns} FROM credentials WHERE account = ? ORDER BY created DESC, number DESC`,
        owner,
      ),
    session: ({ hash, now }) =>
      db.get<Session>(
        `SELECT s.account, a.email, s.created, s.expires FROM sessions s JOIN accounts a ON a.id = s.account
        WHERE s.hash = ? AND s.expires > ?`,
        hash,
        now,
      ) ?? null,
    canUseSetupToken: ({ hash, now }) => db.get<object>(`SELECT 1 FROM ${usableSetupToken}`, hash, now) !== undefined,
    auditEntries: ({ map, account: of, limit }) => listAuditEntries(db, { map, account: of }, limit),
  };
}

function listAuditEntries(
  db: Connection,
  of: { readonly map: string | undefined; readonly account: string | undefined },
  limit: number,
): AuditEntry[] {
  const filters = Object.entries(of).filter(([, id]) => id !== undefined);
  const where = filters.length > 0 ? `WHERE ${filters.map(([column]) => `${column} = ?`).join(" AND ")}` : "";
  const rows = db.all<Omit<AuditEntry, "detail"> & { detail: string }>(
    `SELECT at, account, map, action, detail, address FROM audit ${where} ORDER BY number DESC LIMIT ?`,
    ...filters.map(([, id]) => id),
    limit,
  );
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
}

export function addAuditEntry(db: Connection, { at, account: by, map, action, detail, address }: AuditEntry): void {
  db.run(
    "INSERT INTO audit (at, account, map, action, detail, address) VALUES (?, ?, ?, ?, ?, ?)",
    at,
    by,
    map,
    action,
    JSON.stringify(detail),
    address,
  );
}

export function accountWriteMethods(
  db: Connection,
): SyncStoreMethods<
  | "addAccount"
  | "setAccountName"
  | "setPassword"
  | "addCredential"
  | "revokeCredential"
  | "addToken"
  | "revokeToken"
  | "addSession"
  | "extendSession"
  | "endSession"
  | "setSetupToken"
  | "useSetupToken"
  | "countAttempt"
  | "forgetAttempts"
  | "audit"
> {
  return {
    addAccount: ({ id, email, name, passwordHash, created }) =>
      db.run(
        "INSERT INTO accounts (id, email, email_key, name, password_hash, created) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (email_key) DO NOTHING",
        id,
        email,
        normalizeEmail(email),
        name,
        passwordHash,
        created,
      ) === 1,
    setAccountName: ({ account: of, name }) => {
      db.run("UPDATE accounts SET name = ? WHERE id = ?", name, of);
    },
    setPassword: ({ account: of, passwordHash }) => {
      db.run("UPDATE accounts SET password_hash = ? WHERE id = ?", passwordHash, of);
      db.run("DELETE FROM sessions WHERE account = ?", of);
    },
    ...credentialWriteMethods(db),
    ...sessionWriteMethods(db),
    countAttempt: ({ names, now, window }) => {
      const counted = names.map((name) => recordFailedAttempt(db, name, now, window));
      return counted.sort((a, b) => b.count - a.count || b.until - a.until)[0] ?? { count: 0, until: now };
    },
    forgetAttempts: (names) => {
      for (const name of names) db.run("DELETE FROM attempts WHERE name = ?", name);
    },
    audit: (entry) => addAuditEntry(db, entry),
  };
}

function credentialWriteMethods(
  db: Connection,
): SyncStoreMethods<"addCredential" | "revokeCredential" | "addToken" | "revokeToken"> {
  return {
    addCredential: ({ id, account: of, name, clientId, secretHash, created, lastUsed, revoked }) => {
      db.run(
        "INSERT INTO credentials (id, account, name, client_id, secret_hash, created, last_used, revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        of,
        name,
        clientId,
        secretHash,
        created,
        lastUsed,
        revoked,
      );
    },
    revokeCredential: ({ account: of, credential: id, now }) => {
      const revoked = db.run(
        "UPDATE credentials SET revoked = ? WHERE id = ? AND account = ? AND revoked IS NULL",
        now,
        id,
        of,
      );
      if (revoked === 0) return false;
      db.run("DELETE FROM tokens WHERE credential = (SELECT number FROM credentials WHERE id = ?)", id);
      return true;
    },
    addToken: ({ hash, credential: id, created, expires }) => {
      db.run(
        "INSERT INTO tokens (hash, credential, expires) SELECT ?, number, ? FROM credentials WHERE id = ?",
        hash,
        expires,
        id,
      );
      db.run("UPDATE credentials SET last_used = max(coalesce(last_used, 0), ?) WHERE id = ?", created, id);
    },
    revokeToken: ({ hash, clientId }) => {
      db.run(
        "DELETE FROM tokens WHERE hash = ? AND credential = (SELECT number FROM credentials WHERE client_id = ?)",
        hash,
        clientId,
      );
    },
  };
}

function sessionWriteMethods(
  db: Connection,
): SyncStoreMethods<"addSession" | "extendSession" | "endSession" | "setSetupToken" | "useSetupToken"> {
  return {
    addSession: ({ hash, account: of, created, expires }) => {
      db.run("INSERT INTO sessions (hash, account, created, expires) VALUES (?, ?, ?, ?)", hash, of, created, expires);
    },
    extendSession: ({ hash, expires }) => {
      db.run("UPDATE sessions SET expires = ? WHERE hash = ?", expires, hash);
    },
    endSession: (hash) => {
      db.run("DELETE FROM sessions WHERE hash = ?", hash);
    },
    setSetupToken: ({ hash, expires }) => {
      db.run("INSERT OR REPLACE INTO setup_token (one, hash, expires) VALUES (1, ?, ?)", hash, expires);
    },
    useSetupToken: ({ hash, now }) => db.run(`DELETE FROM ${usableSetupToken}`, hash, now) === 1,
  };
}

/** Starts a new window after the last one ended. */
function recordFailedAttempt(
  db: Connection,
  name: string,
  now: number,
  window: number,
): { count: number; until: number } {
  return db.get<{ count: number; until: number }>(
    `INSERT INTO attempts (name, count, until) VALUES (@name, 1, @end)
    ON CONFLICT (name) DO UPDATE SET
      count = CASE WHEN until > @now AND until <= @end THEN count + 1 ELSE 1 END,
      until = CASE WHEN until > @now AND until <= @end THEN until ELSE @end END
    RETURNING count, until`,
    { name, now, end: now + window },
  )!;
}
