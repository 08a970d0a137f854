package data

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/nodedata"
	"adshard/backend/pgtest"
	"adshard/backend/postgres"
	"adshard/balance"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/nodetest"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden.txt")

// TestTagsAndRecordsArePermanent: ETags and the records of slaves equal those of earlier versions
// of this program, on both kinds of databases. A new property with its default value adds nothing
// to them.
func TestTagsAndRecordsArePermanent(t *testing.T) {
	server, err := pgtest.New("fsync=off", "full_page_writes=off")
	if err == nil {
		t.Cleanup(func() { server.Remove() })
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), server.URL("postgres"), postgres.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	onFile, onServer := golden(t, nodetest.NewDatabase(t).DB), golden(t, store)
	if onFile != onServer {
		t.Errorf("SQLite has\n%sPostgreSQL has\n%s", onFile, onServer)
	}
	if *rewrite {
		if err := os.WriteFile("testdata/golden.txt", []byte(onFile), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil || onFile != string(want) {
		t.Errorf("there are now\n%swant\n%s(%v)", onFile, want, err)
	}
}

// goldenLines collects what is compared: the ETag and the record of each entity.
type goldenLines struct {
	t     *testing.T
	build *nodedata.Builder
	b     strings.Builder
}

func golden(t *testing.T, s backend.Store) string {
	backendtest.Everything(t, s)
	n, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	read := backendtest.Read(t, n)
	l := goldenLines{t: t, build: nodedata.New(balance.ByOwner)}
	for id := uint64(1); id <= uint64(len(read.Advertisers)); id++ {
		a := read.Advertisers[id]
		a.Version = id
		record, err := l.build.Advertiser(&a)
		l.add(advertiserItem(&a), nil, record, err)
	}
	for id := uint64(1); id <= uint64(len(read.Campaigns)); id++ {
		c := read.Campaigns[id]
		c.Version = id
		record, err := l.build.Campaign(&c)
		l.add(campaignItem(&c), c.Negatives, record, err)
	}
	for id := uint64(1); id <= uint64(len(read.Items)); id++ {
		l.item(&read, id)
	}
	return l.b.String()
}

func (l *goldenLines) item(read *backendtest.State, id uint64) {
	it := read.Items[id]
	it.Group.Version = id
	c := read.Campaigns[it.Group.CampaignID]
	record, err := l.build.Item(&it, &c)
	l.add(groupItem(&it.Group), nil, record, err)
	for i := range it.Keywords {
		l.add(keywordItem(&it.Keywords[i], id), nil, record.Keywords[i], nil)
	}
	key := Key{Type: backend.EntityNegative, Group: id}
	for i := range it.Negatives {
		l.add(negativeItem(&it.Negatives[i], key, id), nil, record.Group.Negatives[i], nil)
	}
	for i := range it.Ads {
		l.add(adItem(&it.Ads[i], id), nil, record.Group.Ads[i], nil)
	}
}

func (l *goldenLines) add(it *api.Item, held any, record proto.Message, err error) {
	if err != nil {
		l.t.Fatal(err)
	}
	tag("0123456789abcdef0123456789abcdef", it, held)
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(record)
	if err != nil {
		l.t.Fatal(err)
	}
	fmt.Fprintf(&l.b, "%s %d ETag %s record %016x\n", it.Type, it.ID, it.Etag, xxhash.Sum64(raw))
}
