"""Answers requests with GDAL's and PROJ's own results, a JSON value a line, in order: one process for a whole test file.

{"from": text, "to": text, "xy": [x, y, …]}  positions like gdaltransform: x first on both sides
{"definition": text, "format": text}         a system like gdalsrsinfo: wkt_esri, wkt1, wkt2_2018, wkt2_2019, projjson or proj4
"""

import json
import sys
from osgeo import gdal, osr

gdal.PushErrorHandler("CPLQuietErrorHandler")

FORMATS = {"wkt_esri": "WKT1_ESRI", "wkt1": "WKT1_GDAL", "wkt2_2018": "WKT2_2018", "wkt2_2019": "WKT2_2019"}


def system(text):
    reference = osr.SpatialReference()
    # Raises; in a transformation it would raise for a single position without an answer.
    osr.UseExceptions()
    reference.SetFromUserInput(text)
    reference.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return reference


def transformed(request):
    transformation = osr.CoordinateTransformation(system(request["from"]), system(request["to"]))
    xy = request["xy"]
    osr.DontUseExceptions()
    points = transformation.TransformPoints([(x, y) for x, y in zip(xy[::2], xy[1::2])])
    # JSON has no infinity: null.
    return [value if abs(value) < 1e300 else None for point in points for value in point[:2]]


def described(request):
    reference, wanted = system(request["definition"]), request["format"]
    if wanted == "projjson":
        return reference.ExportToPROJJSON(["MULTILINE=NO"])
    if wanted == "proj4":
        return reference.ExportToProj4()
    return reference.ExportToWkt(["FORMAT=" + FORMATS[wanted], "MULTILINE=NO"])


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = transformed(request) if "xy" in request else described(request)
        print(json.dumps({"answer": answer}), flush=True)
    except Exception as error:
        print(json.dumps({"error": str(error)}), flush=True)
