from qgis.core import QgsProcessingProvider

from .algorithms import CheckAlgorithm, ConvertAlgorithm


class GeoferryProvider(QgsProcessingProvider):
    def id(self):
        return "geoferry"

    def name(self):
        return "geoferry"

    def loadAlgorithms(self):
        for algorithm in (ConvertAlgorithm, CheckAlgorithm):
            self.addAlgorithm(algorithm())
