package index

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/schema/pb"
)

// TestUnknownZones: a record with a time zone that this program does not know is damage. It
// must not be taken for UTC, in which a campaign would be shown at hours that it excludes. Such
// data are refused and change nothing.
func TestUnknownZones(t *testing.T) {
	key := kv.AppendParentKey(nil, kv.AdvertiserKind, 7)
	for name, want := range map[string]string{"": "UTC", "UTC": "UTC", "Europe/Prague": "Europe/Prague", "Mars/Olympus": "", "europe/prague": "", "\x00": ""} {
		record, err := proto.Marshal(&pb.Advertiser{Id: 7, TimeZone: name})
		if err != nil {
			t.Fatal(err)
		}
		p := NewParents()
		err = p.Load(key, record)
		if want == "" {
			if _, there := p.Advertisers.Get(7); !fault.Is(err, fault.Corrupt) || there {
				t.Errorf("%q: %v, taken: %v", name, err, there)
			}
			if err := p.SetAdvertiser(&pb.Advertiser{Id: 7, TimeZone: name}); !fault.Is(err, fault.Version) {
				t.Errorf("%q as data: %v", name, err)
			}
			continue
		}
		if a, _ := p.Advertisers.Get(7); err != nil || a.Zone.String() != want || a.Zone == time.Local {
			t.Errorf("%q: %v, %v", name, a.Zone, err)
		}
	}
}
