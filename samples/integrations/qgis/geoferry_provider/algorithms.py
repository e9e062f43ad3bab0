from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessingAlgorithm,
    QgsProcessingOutputNumber,
    QgsProcessingParameterCrs,
    QgsProcessingParameterFile,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterString,
)

from .command import run

FORMATS = (
    "GeoPackage (*.gpkg);;Shapefile (*.shp);;GeoJSON (*.geojson);;KML (*.kml);;KMZ (*.kmz);;GPX (*.gpx);;CSV (*.csv);;"
    "GeoParquet (*.parquet);;FlatGeobuf (*.fgb)"
)


def crs_definition(crs):
    """The code of a registry, or WKT for a system that only this profile of QGIS knows."""
    code = crs.authid()
    registered = ":" in code and not code.startswith("USER:")
    return code if registered else crs.toWkt(QgsCoordinateReferenceSystem.WKT_PREFERRED)


class GeoferryAlgorithm(QgsProcessingAlgorithm):
    """What the algorithms have in common: their group, and a file as input."""

    INPUT = "INPUT"

    def createInstance(self):
        return type(self)()

    def group(self):
        return ""

    def groupId(self):
        return ""

    def initAlgorithm(self, configuration=None):
        self.addParameter(QgsProcessingParameterFile(self.INPUT, "Input file"))


class ConvertAlgorithm(GeoferryAlgorithm):
    OUTPUT = "OUTPUT"
    TARGET_CRS = "TARGET_CRS"
    WHERE = "WHERE"

    def name(self):
        return "convert"

    def displayName(self):
        return "Convert a file"

    def shortHelpString(self):
        return (
            "Converts all layers of a file. The log lists what the target format cannot hold, by field, "
            "and the coordinate operation with its accuracy."
        )

    def initAlgorithm(self, configuration=None):
        super().initAlgorithm(configuration)
        self.addParameter(QgsProcessingParameterCrs(self.TARGET_CRS, "Target CRS", optional=True))
        self.addParameter(QgsProcessingParameterString(self.WHERE, "Filter, such as population > 1000000", optional=True))
        self.addParameter(QgsProcessingParameterFileDestination(self.OUTPUT, "Output file", FORMATS))
        for name, label in (("WRITTEN", "Features written"), ("REJECTED", "Features rejected"), ("LOSSES", "Losses")):
            self.addOutput(QgsProcessingOutputNumber(name, label))

    def processAlgorithm(self, parameters, context, feedback):
        output = self.parameterAsFileOutput(parameters, self.OUTPUT, context)
        arguments = ["convert", self.parameterAsFile(parameters, self.INPUT, context), output, "--overwrite"]
        crs = self.parameterAsCrs(parameters, self.TARGET_CRS, context)
        if crs.isValid():
            arguments += ["--target-crs", crs_definition(crs)]
        where = self.parameterAsString(parameters, self.WHERE, context)
        if where:
            arguments += ["--where", where]
        # 5: some features were rejected, and are in a file beside the output.
        _, records = run(arguments, feedback, accept=(0, 5))
        losses = [record for record in records if record["type"] == "loss"]
        for loss in losses:
            feedback.pushWarning(f"lost: {loss['code']} {loss.get('field', '')} ({loss['count']} times): {loss['example']}")
        for record in records:
            if record["type"] == "operation":
                accuracy = "of unknown accuracy" if record["accuracy"] is None else f"accurate to {record['accuracy']} m"
                feedback.pushInfo(f"{record['from']} to {record['to']}: {record['name']}, {accuracy}")
        (summary,) = (record for record in records if record["type"] == "summary")
        # Features that are kept have lost their geometry; both kinds are in the file.
        dropped = summary["rejected"] - summary["kept"]
        if summary["rejected"]:
            feedback.pushWarning(
                f"{dropped} features rejected and {summary['kept']} kept without geometry, "
                f"with the reasons in {summary['rejects']}"
            )
        return {
            self.OUTPUT: output,
            "WRITTEN": summary["written"],
            "REJECTED": dropped,
            "LOSSES": len(losses),
        }


class CheckAlgorithm(GeoferryAlgorithm):
    def name(self):
        return "check"

    def displayName(self):
        return "Check a file"

    def shortHelpString(self):
        return "Finds damaged records, invalid geometries and positions out of range; nothing is written."

    def initAlgorithm(self, configuration=None):
        super().initAlgorithm(configuration)
        self.addOutput(QgsProcessingOutputNumber("PROBLEMS", "Problems"))

    def processAlgorithm(self, parameters, context, feedback):
        path = self.parameterAsFile(parameters, self.INPUT, context)
        _, records = run(["check", path], feedback, accept=(0, 5))
        problems = [record for record in records if record["type"] == "problem"]
        for problem in problems:
            feedback.pushWarning(f"record {problem.get('record', '?')}: {problem['code']}: {problem['reason']}")
        return {"PROBLEMS": len(problems)}
