package backend

// DefaultTimeZone is the time zone of an advertiser without a given one.
const DefaultTimeZone = "UTC"
