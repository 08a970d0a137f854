package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/barrels/rocks"
	"adshard/internal/node/database"
	"adshard/internal/outfile/outfiletest"
)

// noOutputs lists the flags that do not name an output: inputs, addresses, names, choices.
var noOutputs = strings.Split("addr,admin,admin-hosts,admins,advertise,advertiser,balancer,balancers,barrels,by,ca,cert,cluster,collector,config,control,"+
	"control-tls-ca,control-tls-cert,control-tls-key,copy-from,counts,cursor,device,discard-data-of,event-origins,explain,features,figures,format,from,grpc,host,http,if-match,key,"+
	"lexicon,listen,log-format,log-level,size memory,name,order,profile,quality,query-tls-cert,query-tls-key,query-tls-mode,request-ids,scorer,set,since,slave,"+
	"slaves,state-key,strategy,thesaurus,tls-ca,tls-cert,tls-key,tls-mode,today,token-file,tokens,traces-endpoint,transport,trusted-distributors,"+
	"trusted-slaves,until,variants,why-not,zone,audience,block,block-advertiser,block-category,block-domain,placement,categories,domains,"+
	"currency,interest-location,language,languages,location,point,site,time,unknown-location,"+
	"blocklist list db,blocklist remove db,blocklist set db,blocklist show db,locations find db,locations import db,"+
	"backup db,balancer db,barrels build db,collector db,db check db,db words db,distributor db,events erase db,quality given db,quality learn db,quality train db,report db,up db,"+
	"backup events,balancer events,events erase events,quality train events,report events", ",")

// outputs lists the flags that name an output of a command, with its other arguments: DB is a live database, IN an import
// file, BACKUP a backup, NEW a free name, VICTIM the output. The list own has the victims that may be replaced or used,
// because the command itself makes such files.
var outputs = []struct{ flag, args, own string }{
	{"import rejects", "--db sqlite:DB --rejects VICTIM IN", "rejects.tsv"},
	{"import rejects", "--db sqlite:DB --rejects VICTIM --force IN", "rejects.tsv conflicts.tsv notes.txt settings.yaml report.json lexicon.txt queries.log"},
	{"import rejects", "--db sqlite:NEW --rejects VICTIM IN", "rejects.tsv"},
	{"locations import rejects", "--db sqlite:DB --rejects VICTIM IN", "rejects.tsv"},
	{"import conflicts", "--db sqlite:DB --conflicts VICTIM IN", "conflicts.tsv"},
	{"import db", "--db sqlite:VICTIM IN", "live.db hard-live soft-live"},
	{"export out", "--addr 127.0.0.1:1 --out VICTIM", ""},
	{"quality train out", "--db sqlite:DB --out VICTIM IN", ""},
	{"lexicon build out", "--thesaurus en=IN --out VICTIM", "lexicon.txt"},
	{"barrels build out", "--db sqlite:DB --out VICTIM", ""},
	{"backup out", "--db sqlite:DB --out VICTIM", ""},
	{"restore db", "--from BACKUP --db sqlite:VICTIM", ""},
	{"restore db", "--from BACKUP --db sqlite:VICTIM --replace", "big.db hard soft other.db live.db hard-live soft-live"},
	{"restore events", "--from BACKUP --db sqlite:NEW --events sqlite:VICTIM", ""},
	{"db migrate to", "--from sqlite:DB --to sqlite:VICTIM", ""},
	{"cert ca dir", "--cluster a --dir VICTIM", ""},
	{"cert issue dir", "slave a --dir VICTIM", ""},
	{"cert rotate dir", "slave a --dir VICTIM", ""},
	{"up data", "--db sqlite:DB --http 127.0.0.1:0 --admin= --data VICTIM", ""},
	{"up query-log-file", "--db sqlite:DB --http 127.0.0.1:0 --admin= --data NEW --query-log-file VICTIM", "queries.log"},
	{"master query-log-file", "--http 127.0.0.1:0 --admin= --query-log-file VICTIM", "queries.log"},
	{"slave dir", "--listen 127.0.0.1:0 --admin= --balancer 127.0.0.1:1 --name a --dir VICTIM", "store live-store"},
	{"collector events", "--db sqlite:DB --http 127.0.0.1:0 --admin= --adopt-events --events sqlite:VICTIM", "live.db-events soft-live-events other.db-events"},
	{"restore events", "--from BACKUP --db sqlite:NEW --events sqlite:VICTIM --replace", "big.db hard soft other.db"},
}

// TestEveryOutputHasARow: each flag is listed either in outputs or in noOutputs.
func TestEveryOutputHasARow(t *testing.T) {
	var rows []string
	for _, o := range outputs {
		rows = append(rows, o.flag)
	}
	outfiletest.CheckFlags(t, adshard(Streams{}), noOutputs, rows)
}

// living has an open database and a store, which outputs must not destroy.
type living struct {
	db           backend.Store
	keywordsWere uint64
	dir          string
	paths        map[string]string
	was          map[string]os.FileInfo
	in           string // path of a file to import
	saved        string // path of a backup
}

func live(t *testing.T) *living {
	t.Helper()
	l := &living{dir: t.TempDir(), paths: make(map[string]string), was: make(map[string]os.FileInfo), in: file(t, "ads.csv", reportData)}
	at := func(name string) string { l.paths[name] = filepath.Join(l.dir, name); return l.paths[name] }
	db := "sqlite:" + at("live.db")
	l.saved = filepath.Join(t.TempDir(), "saved")
	events, err := database.OpenEvents(t.Context(), db+"-events")
	if err == nil {
		err = events.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", "--db", db, l.in}, {"backup", "--db", db, "--out", l.saved}} {
		if status, _, errOut := run(t, "adshard", args...); status != exitDone {
			t.Fatal(args, errOut)
		}
	}
	if l.db, err = database.Open(t.Context(), db, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.db.Close() })
	store, err := rocks.Open(at("live-store"), rocks.Options{})
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{"-wal", "-shm", "-journal", "-events", "-events-wal"} {
		at("live.db" + side)
	}
	if err := os.Link(l.paths["live.db"], at("hard-live")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("live.db", at("soft-live")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hard-live-wal", "soft-live-shm", "soft-live-events"} {
		at(name)
	}
	if l.keywordsWere, err = l.keywords(t.Context()); err != nil || l.keywordsWere == 0 {
		t.Fatal(l.keywordsWere, err)
	}
	l.each(t, func(name string, info fs.FileInfo) { l.was[name] = info })
	return l
}

// keywords opens the database again, reads all of it, and returns its number of keywords.
func (l *living) keywords(ctx context.Context) (n uint64, err error) {
	db, err := database.Open(ctx, "sqlite:"+l.paths["live.db"], false)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	r, err := db.(backend.Checker).Check(ctx, nil)
	if err == nil && len(r.Damage) > 0 {
		err = fmt.Errorf("damage: %v", r.Damage[0])
	}
	if err != nil {
		return 0, err
	}
	return r.Counts.Keywords, nil
}

// each calls do with all files of the directory.
func (l *living) each(t *testing.T, do func(name string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(l.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && path != l.dir {
			do(strings.TrimPrefix(path, l.dir+"/"), info)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// harm returns a description of the damage to them, or "" if there is none.
func (l *living) harm(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	left := maps.Clone(l.was)
	l.each(t, func(name string, info fs.FileInfo) {
		was := left[name]
		delete(left, name)
		switch {
		case was == nil:
			fmt.Fprintf(&b, "%s is new; ", name)
		case !os.SameFile(was, info):
			fmt.Fprintf(&b, "%s was replaced; ", name)
		case info.Mode() != was.Mode(), info.Size() < was.Size():
			fmt.Fprintf(&b, "%s: %v, %d bytes; it was %v, %d; ", name, info.Mode(), info.Size(), was.Mode(), was.Size())
		}
	})
	for name := range left {
		if !strings.HasSuffix(name, "-events-wal") && !strings.HasSuffix(name, "-events-shm") { // which the last reader removes
			fmt.Fprintf(&b, "%s is gone; ", name)
		}
	}
	return b.String()
}

// TestOutputsDestroyNothing: whatever path the output of a command names, a file that is not of the output's kind stays as it was,
// and the error says what to do. Among the files are an open database, its log and a real store.
func TestOutputsDestroyNothing(t *testing.T) {
	v, l := outfiletest.Make(t), live(t)
	before := v.State(t)
	paths := maps.Clone(v.Paths)
	maps.Copy(paths, l.paths)
	for _, o := range outputs {
		for name, path := range paths {
			if slices.Contains(strings.Fields(o.own), name) {
				continue
			}
			args := l.line(t, o.flag, o.args, path)
			status, said := ends(t, args)
			if status == exitDone || !outfiletest.Advises(said) {
				t.Errorf("%v: %d %s", args, status, said)
			}
			if harm := l.harm(t); harm != "" {
				t.Fatalf("%v: %s\n%s", args, harm, said)
			}
			if now := v.State(t); now != before {
				t.Errorf("%v: %s\n%s", args, said, outfiletest.Changes(before, now))
				before = now
			}
		}
		if keywords, err := l.keywords(t.Context()); keywords != l.keywordsWere || err != nil {
			t.Fatalf("%s: the database has %d keywords, %v; it had %d", o.flag, keywords, err, l.keywordsWere)
		}
	}
}

// line returns the command line of a row.
func (l *living) line(t *testing.T, flag, rest, victim string) []string {
	t.Helper()
	words := strings.NewReplacer("DB", l.paths["live.db"], "IN", l.in, "BACKUP", l.saved, "NEW", filepath.Join(t.TempDir(), "new"), "VICTIM", victim)
	args := strings.Fields(flag)
	args = append(args[:len(args)-1], strings.Fields(rest)...)
	for i := range args {
		args[i] = words.Replace(args[i])
	}
	return args
}

// ends runs a command that must end by itself.
func ends(t *testing.T, args []string) (status int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	status = Main(ctx, "adshard", args, Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
	if ctx.Err() != nil {
		t.Errorf("%v runs", args)
	}
	return status, errOut.String()
}
