// Package zone loads time zones from a database that is built into the program.
//
// It is used wherever the wall clock of an advertiser decides what is shown: all masters and slaves must
// decide the same way, whatever zones are installed on their machines.
//
//	z, err := zone.Load("Europe/Prague")
//
// zoneinfo.zip comes from Go 1.26 (lib/time). It is the IANA time zone database, which is in the public
// domain.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"sync"
	"time"

	"adshard/fault"
)

// Version is the release of the IANA time zone database.
const Version = "2025c"

//go:embed zoneinfo.zip
var database []byte

// opened reads the index of the database only once; loaded keeps the zones by name.
var (
	opened = sync.OnceValues(func() (*zip.Reader, error) {
		return zip.NewReader(bytes.NewReader(database), int64(len(database)))
	})
	loaded sync.Map
)

// Load returns the zone with an IANA name, such as Europe/Prague. It returns the same value each time, or
// fault.Invalid if there is no such zone.
func Load(name string) (*time.Location, error) {
	if z, ok := loaded.Load(name); ok {
		return z.(*time.Location), nil
	}
	z, err := read(name)
	if err != nil || name == "" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fault.Field("time zone", "time_zone", "unknown time zone %.40q: a name of the IANA database, e.g. Europe/Prague or UTC", name)
	}
	kept, _ := loaded.LoadOrStore(name, z)
	return kept.(*time.Location), nil
}

func read(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	r, err := opened()
	if err != nil {
		return nil, err
	}
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the bytes are in memory
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}
