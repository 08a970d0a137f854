package geotargets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest"
	"adshard/ingest/geotargets"
	"adshard/places"
)

const placesHeader = "Criteria ID,Name,Canonical Name,Parent ID,Country Code,Target Type,Status\n"

// readPlaces reads a file on top of the built-in table. It returns the places that are not built in, and the rejects
// as row:column, each followed by a space.
func readPlaces(t *testing.T, base *places.Table, text string) (*places.Table, string, geotargets.Summary, error) {
	t.Helper()
	var rejects bytes.Buffer
	table, sum, err := geotargets.Read(t.Context(), base, "-", geotargets.Options{Stdin: strings.NewReader(text), StdinName: "p.csv", Rejects: &rejects})
	if err != nil {
		return nil, "", sum, err
	}
	var b strings.Builder
	for r := range table.All() {
		if _, there := places.Countries().Place(r.ID); !there {
			fmt.Fprintf(&b, "%d<%d:%s ", r.ID, r.Parent, r.CanonicalName)
		}
	}
	if !ingest.IsRejects(bytes.NewReader(rejects.Bytes())) {
		t.Errorf("no report of rejects:\n%s", &rejects)
	}
	for line := range strings.Lines(rejects.String()) {
		cells := strings.Split(line, "\t")
		fmt.Fprintf(&b, "!%s:%s ", cells[1], cells[2])
	}
	return table, b.String(), sum, nil
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"empty", placesHeader, ""},
		{"a row", placesHeader + `7,Brno,"Brno,Czechia",2203,CZ,City,Active` + "\n", "7<2203:Brno,Czechia "},
		{"CRLF, quotes, no line end", strings.ReplaceAll(placesHeader, "\n", "\r\n") + `"7","Br""no","",2203,CZ,City,` + "\r\n8,x,,7,,,", `7<2203:Br"no 8<7:x `},
		{"columns in another order", "Status,x,Name,Criteria ID,Canonical Name,PARENT ID,Country Code,Target Type\nActive,1,n,7,,2203,CZ,City\n", "7<2203:n "},
		{"cells missing at the end", placesHeader + "7,n\n", "7<0:n "},
		{"white space, blank lines", placesHeader + "\n 7 , n ,,, \n\n8,m,,x,\n", "7<0:n !5:Parent ID "},
		{"ids", placesHeader + "0,n,,,,,\n4294967296,n,,,,,\n-1,n,,,,,\n+1,n,,,,,\nx,n,,,,,\n,n,,,,,\n1.5,n,,,,,\n4294967295,n,,,,,\n",
			"4294967295<0:n !2:Criteria ID !3:Criteria ID !4:Criteria ID !5:Criteria ID !6:Criteria ID !7:Criteria ID !8:Criteria ID "},
		{"the first column at fault", placesHeader + "7,,\xff,x,,,\n7,n,\xff,x,,,\n7,n,,x,\xff,,\n7,n,,,\xff,,\n7,\"a\nb\",,,,,\n",
			"!2:Name !3:Canonical Name !4:Parent ID !5:Country Code !6:Name "},
		{"long texts", placesHeader + "7," + strings.Repeat("n", 1001) + ",,,,,\n8," + strings.Repeat("n", 9) + ",,,,,\n9," + strings.Repeat("n", 1<<20) + "\n",
			"8<0:nnnnnnnnn !2:Name !4: "},
		{"too many cells, a cut-off last row", placesHeader + "7,n,,,,,Active,x\n8,n,,,CZ", "!2: !3: "},
		{"a fault of the row is told in its place", placesHeader + "7,n,,99,,,\n0,n,,,,,\n8,n,,7,,,\n", "!2:Parent ID !3:Criteria ID !4:Parent ID "},
	} {
		_, got, sum, err := readPlaces(t, places.Countries(), c.text)
		if err != nil || got != c.want || sum.Rejected != int64(strings.Count(c.want, "!")) {
			t.Errorf("%s: %s, %+v, %v; not %s", c.what, got, sum, err, c.want)
		}
	}
}

// TestReadTwice: a row replaces the place with the same id, and places that a later file lacks stay.
func TestReadTwice(t *testing.T) {
	first, _, sum, err := readPlaces(t, places.Countries(), placesHeader+"7,a,,2203,,,\n8,b,,2203,,,\n2203,Czechia,,,CZ,Country,\n")
	if err != nil || sum.Created != 2 || sum.Left != 1 || sum.Changed != 0 || sum.Rows != 3 {
		t.Fatalf("%+v, %v", sum, err)
	}
	second, got, sum, err := readPlaces(t, first, placesHeader+"7,a,,2840,,,\n9,c,,8,,,\n8,b,,77,,,\n")
	if err != nil || got != "7<2840:a 8<2203:b 9<8:c !4:Parent ID " || sum.Created != 1 || sum.Changed != 1 || sum.Left != 1 || sum.Rejected != 1 {
		t.Errorf("%s, %+v, %v", got, sum, err)
	}
	if again, _, sum, err := readPlaces(t, second, placesHeader+"7,a,,2840,,,\n9,c,,8,,,\n"); err != nil || again.Version() != second.Version() || sum.Left != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestReadOfAnotherKind(t *testing.T) {
	for what, text := range map[string]string{
		"empty": "", "no header": "7,n,,,,,\n", "tabs": strings.ReplaceAll(placesHeader, ",", "\t"), "a column twice": "Name," + placesHeader,
		"a column missing": strings.Replace(placesHeader, ",Parent ID", "", 1), "compressed": "\x1f\x8b\x08", "an open quote": placesHeader + "7,\"n",
		"a bare quote": placesHeader + "7,n\"m,,,,,\n", "null bytes": "\x00\x00",
	} {
		if _, _, _, err := readPlaces(t, places.Countries(), text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "p.csv") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := geotargets.Read(t.Context(), places.Countries(), filepath.Join(t.TempDir(), "none.csv"), geotargets.Options{}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

// FuzzRead: a file is rejected as a whole, or makes a table that can be read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(placesHeader + "7,Brno,\"Brno,Czechia\",2203,CZ,City,Active\n8,x,,9,,,\n9,y,,8,,,\n"))
	f.Add([]byte(placesHeader + "7,a,,8,,,\r\n8,b,,7\r\n2203,C,,7,,,\r\n7,d,,2203,,,\r\n"))
	f.Add([]byte("\xff\xfe\x00\x00,"))
	f.Fuzz(func(t *testing.T, file []byte) {
		table, sum, err := geotargets.Read(t.Context(), places.Countries(), "-", geotargets.Options{Stdin: bytes.NewReader(file)})
		if err != nil {
			return
		}
		if again, err := places.Parse(table.Text()); err != nil || again.Version() != table.Version() {
			t.Fatalf("a table that is not read again: %v\n%s", err, table.Text())
		}
		if want := int(sum.Created) + places.Countries().Len(); table.Len() != want {
			t.Fatalf("%d places, not %d", table.Len(), want)
		}
	})
}

// googleFile writes a file of the size and shape of Google's: places in several levels below the countries, some children
// before their parents.
func googleFile(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("\"" + strings.ReplaceAll(strings.TrimSpace(placesHeader), ",", "\",\"") + "\"\r\n")
	for i := range rows {
		id := 9_000_000 + (i*7919)%rows // a permutation while 7919 does not divide rows
		parent := 2840
		if n := id - 9_000_000; n >= 50 {
			parent = 9_000_000 + n/50
		}
		fmt.Fprintf(&b, "%d,\"Place %d\",\"Place %d,Place %d,Region Ž%d,United States\",%d,US,Postal Code,Active\r\n", id, id, id, parent, id%60, parent)
	}
	return b.Bytes()
}

// TestReadAll reads a file with as many places as Google's.
func TestReadAll(t *testing.T) {
	const rows = 273_644
	path := filepath.Join(t.TempDir(), "geotargets.csv")
	if err := os.WriteFile(path, googleFile(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	table, sum, err := geotargets.Read(t.Context(), places.Countries(), path, geotargets.Options{})
	if err != nil || sum.Rows != rows || sum.Created != rows || sum.Rejected != 0 || table.Len() != rows+249 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if d := table.Depth(9_000_000 + rows - 1); d != 5 {
		t.Errorf("depth %d", d)
	}
}

// TestGolden reads the golden set's table of places, with rows that are rejected and places that are not Active.
func TestGolden(t *testing.T) {
	const dir = "../../internal/goldentest/testdata/targeting/golden/"
	var want struct {
		Rejects []struct {
			File, Column string
			Row          int64
		}
	}
	raw, err := os.ReadFile(dir + "imports.json")
	if err == nil {
		err = json.Unmarshal(raw, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	var rejects bytes.Buffer
	table, sum, err := geotargets.Read(t.Context(), places.Countries(), dir+"places.csv", geotargets.Options{Rejects: &rejects})
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted strings.Builder
	for line := range strings.Lines(rejects.String()) {
		cells := strings.Split(line, "\t")
		fmt.Fprintln(&got, cells[1], cells[2])
	}
	for _, r := range want.Rejects {
		if r.File == "places.csv" {
			fmt.Fprintln(&wanted, r.Row, r.Column)
		}
	}
	if got.String() != wanted.String() || sum.Rejected != int64(strings.Count(wanted.String(), "\n")) || sum.Rejected == 0 {
		t.Errorf("rejected:\n%snot\n%s", &got, &wanted)
	}
	if table.Len() != places.Countries().Len()+int(sum.Created) || sum.Rows != 1076 {
		t.Errorf("%d places after %+v", table.Len(), sum)
	}
}

// TestImport: a table is stored in the database, and a second import changes nothing.
func TestImport(t *testing.T) {
	s := memoryDocuments{}
	read := func() string {
		version, table, err := geotargets.Load(t.Context(), &s)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(version, " ", table.Len()-places.Countries().Len())
	}
	if got := read(); got != "0 0" {
		t.Error(got)
	}
	put := func(text string) (geotargets.Summary, error) {
		return geotargets.Import(t.Context(), &s, "-", geotargets.Options{Stdin: strings.NewReader(placesHeader + text)})
	}
	for _, c := range []struct{ text, want string }{
		{"2203,Czechia,,,CZ,Country,Active\n", "0 0"}, {"7,a,,2203,,,\n", "1 1"}, {"7,a,,2203,,,\n", "1 1"}, {"8,b,,7,,,\n9,c,,10,,,\n", "2 2"},
	} {
		sum, err := put(c.text)
		if got := read(); err != nil || got != c.want || len(sum.Version) != 16 {
			t.Errorf("%s: %s, %+v, %v", c.text, got, sum, err)
		}
	}
	s.before = func() { _, _ = s.SaveDocument(t.Context(), backend.PlacesDocument, 2, backend.PackDocument("")) }
	if _, err := put("9,c,,,,,\n"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "again") {
		t.Error(err)
	}
}

type contract interface{ backend.Documents }

// memoryDocuments is a store of one document.
type memoryDocuments struct {
	contract
	head   backend.Document
	data   []byte
	before func() // called once, before a document is saved
}

func (m *memoryDocuments) Document(context.Context, string) (backend.Document, error) {
	if m.head.Version == 0 {
		return m.head, fault.Newf(fault.NotFound, "test", "no document")
	}
	return m.head, nil
}

func (m *memoryDocuments) DocumentPart(_ context.Context, _ string, _ uint64, part int) ([]byte, error) {
	return backend.PartOf(m.data, part), nil
}

func (m *memoryDocuments) SaveDocument(_ context.Context, name string, was uint64, data []byte) (d backend.Document, err error) {
	if f := m.before; f != nil {
		m.before = nil
		f()
	}
	if was != m.head.Version {
		return d, fault.Newf(fault.Conflict, "test", "another version")
	}
	m.head, err = backend.NewDocument(name, was+1, data)
	m.data = data
	return m.head, err
}

func BenchmarkRead(b *testing.B) {
	file := googleFile(273_644)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, _, err := geotargets.Read(b.Context(), places.Countries(), "-", geotargets.Options{Stdin: bytes.NewReader(file)}); err != nil {
			b.Fatal(err)
		}
	}
}
