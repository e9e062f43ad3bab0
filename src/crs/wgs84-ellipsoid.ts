/** The WGS 84 ellipsoid (EPSG:7030), in metres. */
export const semiMajor = 6_378_137;
export const flattening = 1 / 298.257223563;
export const semiMinor = semiMajor * (1 - flattening);
export const eccentricitySquared = flattening * (2 - flattening);

export const radians = Math.PI / 180;
