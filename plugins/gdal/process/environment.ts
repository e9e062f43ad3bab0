/** Environment variables of the GDAL process. */
import { join } from "node:path";

/** The only remote file name that GDAL may read, which does not exist. */
const nonexistentPath = "/geoferry/reads/nothing/from/the/network";
/** A proxy address without a listener. */
const unreachableProxy = "http://127.0.0.1:9";

/** Disables network access of GDAL's virtual file systems and of its drivers. */
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

/** Prevents files from making GDAL follow references, run code or open other files. */
const restrictedSettings = {
  GML_SKIP_RESOLVE_ELEMS: "ALL",
  GDAL_VRT_ENABLE_PYTHON: "NO",
  LIBKML_RESOLVE_STYLE: "NO",
  OGR_SQLITE_ALLOW_EXTERNAL_ACCESS: "NO",
  OGR_SQLITE_LIST_VIRTUAL_OGR: "NO",
  OGR_SQLITE_PRAGMA: "trusted_schema=OFF",
} as const;

/**
 * @param scratch folder for files that GDAL would write beside its input
 * @param allowsReferences whether a driver that follows references was named explicitly
 */
export function gdalEnvironment(scratch: string, allowsReferences: boolean): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(allowsReferences ? {} : { ...offlineSettings, ...restrictedSettings }),
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
