/** What GDAL is told by the environment of its process. */
import { join } from "node:path";

/** A name that no file has: GDAL reads from the network only files of this name. */
const nonexistentPath = "/geoferry/reads/nothing/from/the/network";
/** Where no one listens. */
const unreachableProxy = "http://127.0.0.1:9";

/** No network: neither GDAL's file systems of remote files, nor what its drivers would fetch for themselves. */
const offlineSettings = {
  CPL_VSIL_CURL_ALLOWED_FILENAME: nonexistentPath,
  GDAL_HTTP_PROXY: unreachableProxy,
  GDAL_HTTPS_PROXY: unreachableProxy,
  GDAL_HTTP_MAX_RETRY: "0",
  GDAL_HTTP_CONNECTTIMEOUT: "1",
  http_proxy: unreachableProxy,
  https_proxy: unreachableProxy,
  HTTP_PROXY: unreachableProxy,
  HTTPS_PROXY: unreachableProxy,
  ALL_PROXY: unreachableProxy,
  NO_PROXY: "",
  no_proxy: "",
  PROJ_NETWORK: "OFF",
} as const;

/** What files must not make GDAL do: follow references, run code, open other files. */
const restrictedSettings = {
  GML_SKIP_RESOLVE_ELEMS: "ALL",
  GDAL_VRT_ENABLE_PYTHON: "NO",
  LIBKML_RESOLVE_STYLE: "NO",
  OGR_SQLITE_ALLOW_EXTERNAL_ACCESS: "NO",
  OGR_SQLITE_LIST_VIRTUAL_OGR: "NO",
  OGR_SQLITE_PRAGMA: "trusted_schema=OFF",
} as const;

/**
 * @param scratch a folder for whatever GDAL would write beside its input
 * @param reaches the driver was named, and is there to reach out
 */
export function gdalEnvironment(scratch: string, reaches: boolean): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(reaches ? {} : { ...offlineSettings, ...restrictedSettings }),
    CPL_LOG: join(scratch, "gdal.log"),
    CPL_TMPDIR: scratch,
    OGR_VFK_DB_NAME: join(scratch, "vfk.db"),
    CPL_VSIL_GZIP_WRITE_PROPERTIES: "NO",
    GDAL_PAM_ENABLED: "NO",
    OGR_WKT_FORMAT: "WKT2_2019",
    OGR_SQLITE_SYNCHRONOUS: "OFF",
    SHAPE_RESTORE_SHX: "NO",
  };
}
