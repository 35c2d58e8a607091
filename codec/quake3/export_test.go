package quake3

// RecordedLengths shows tests the built-in code.
const RecordedLengths = recordedLengths
