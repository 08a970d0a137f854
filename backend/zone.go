package backend

// DefaultTimeZone is the time zone of an advertiser for which none is given.
const DefaultTimeZone = "UTC"
