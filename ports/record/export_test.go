package record

// Readable is readable, for tests of versions that do not exist yet.
var Readable = readable
