package barreltest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/backend/sqlite"
	"adshard/balance"
	"adshard/ingest"
	"adshard/internal/corpus"
	"adshard/schema/pb"
	"adshard/search"
)

// Corpus is the data and queries of a benchmark, derived from real catalogues.
type Corpus struct {
	// Data has all items by ascending key, and their parents.
	Data    *pb.NodeData
	Queries []string
}

// LoadCorpus makes a corpus with about the given number of keywords and caches it in the system's
// directory for temporary files.
func LoadCorpus(t testing.TB, keywords int64) *Corpus {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("adshard-corpus-%d", keywords))
	c, err := readCorpus(dir)
	if err == nil {
		return c
	}
	if err := makeCorpus(t, dir, keywords); err != nil {
		t.Fatalf("make corpus: %v", err)
	}
	if c, err = readCorpus(dir); err != nil {
		t.Fatalf("read corpus: %v", err)
	}
	return c
}

func readCorpus(dir string) (*Corpus, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "data.pb"))
	if err != nil {
		return nil, err
	}
	c := &Corpus{Data: new(pb.NodeData)}
	if err := proto.Unmarshal(raw, c.Data); err != nil {
		return nil, err
	}
	raw, err = os.ReadFile(filepath.Join(dir, "queries.txt"))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		c.Queries = append(c.Queries, lines.Text())
	}
	return c, lines.Err()
}

// sources returns the catalogues beside the repository, or the built-in extract if there are none.
func sources(t testing.TB) fs.FS {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			data := filepath.Join(dir, "..", "shared", "data")
			if _, err := os.Stat(filepath.Join(data, "catalogue")); err == nil {
				return os.DirFS(data)
			}
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Logf("no catalogues beside the repository: using the built-in extract")
	return corpus.Extract()
}

func makeCorpus(t testing.TB, dir string, keywords int64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	c, err := corpus.Open(sources(t))
	if err != nil {
		return err
	}
	o := corpus.Options{Keywords: keywords, Seed: 1, Queries: 20_000, Encoding: "utf-8"}
	var sheet, queries bytes.Buffer
	if _, err := c.Write(context.Background(), &sheet, o); err != nil {
		return err
	}
	if _, err := c.WriteQueries(&queries, o); err != nil {
		return err
	}
	editor := filepath.Join(dir, "editor.csv")
	if err := os.WriteFile(editor, sheet.Bytes(), 0o644); err != nil {
		return err
	}
	data, err := importCorpus(t, editor)
	if err != nil {
		return err
	}
	raw, err := proto.Marshal(data)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "data.pb"), raw, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "queries.txt"), queries.Bytes(), 0o644)
}

// importCorpus passes the file through the import and the backend.
func importCorpus(t testing.TB, editor string) (*pb.NodeData, error) {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "corpus.db"), sqlite.Options{Create: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // its file is removed anyway
	if _, err := ingest.Run(ctx, db, []string{editor}, ingest.Options{}); err != nil {
		return nil, err
	}
	s, err := db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return records(ctx, s)
}

func records(ctx context.Context, s backend.Snapshot) (*pb.NodeData, error) {
	b := nodedata.New(balance.ByOwner)
	d := &pb.NodeData{Reset_: true, To: At(s.Position().Clock), Slices: WholeRing()}
	advertisers, err := s.Advertisers(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, a := range advertisers {
		r, err := b.Advertiser(a)
		if err != nil {
			return nil, err
		}
		d.Advertisers = append(d.Advertisers, r)
	}
	campaigns, err := s.Campaigns(ctx, nil)
	if err != nil {
		return nil, err
	}
	byID := map[uint64]*backend.Campaign{}
	for _, c := range campaigns {
		byID[c.ID] = c
		r, err := b.Campaign(c)
		if err != nil {
			return nil, err
		}
		d.Campaigns = append(d.Campaigns, r)
	}
	for it, err := range s.All(ctx) {
		if err != nil {
			return nil, err
		}
		r, err := b.Item(it, byID[it.Group.CampaignID])
		if err != nil {
			return nil, err
		}
		d.Items = append(d.Items, r)
	}
	sortItems(d.Items)
	return d, nil
}

// Requests expands the queries as a master does, without a thesaurus.
func (c *Corpus) Requests(t testing.TB) []*search.Request {
	t.Helper()
	var out []*search.Request
	for _, text := range c.Queries {
		q, err := search.Expand(text, search.Synonym, nil)
		if err != nil {
			continue // the master refuses such a query
		}
		out = append(out, &search.Request{
			Query: q, Profile: search.DefaultProfile(), Slots: 4, Reserve: 10_000, RequestID: "benchmark",
		})
	}
	return out
}

// Keywords returns the number of keywords in the corpus.
func (c *Corpus) Keywords() int {
	n := 0
	for _, it := range c.Data.Items {
		n += len(it.Keywords)
	}
	return n
}
