package rocks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/kv"
	"adshard/fault"
)

// runs implements kv.Runs with table files, which a fresh database ingests. The database's
// directory appears only when it is complete.
type runs struct {
	dir     string // directory of the new database
	work    string // directory where it is built
	options Options
	config  *config
	env     *grocksdb.EnvOptions

	mu    sync.Mutex // guards the fields below
	files [kv.Families][]string
	count int
	rest  kv.Batch
}

// NewRuns begins a database in dir, which must be missing or empty. Otherwise it returns
// fault.Conflict.
func NewRuns(dir string, o Options) (kv.Runs, error) {
	o.SetDefaults()
	if err := errors.Join(o.Validate(), checkHeaders()); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fault.Newf(fault.Conflict, "rocks: build", "%s is not empty; empty it or choose another directory", dir)
	}
	work := filepath.Clean(dir) + ".building"
	if err := os.RemoveAll(work); err != nil {
		return nil, fileError(err)
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, fileError(err)
	}
	return &runs{dir: dir, work: work, options: o, config: newConfig(o), env: grocksdb.NewDefaultEnvOptions()}, nil
}

// Dir implements kv.Runs.
func (r *runs) Dir() string { return r.work }

// Finish implements kv.Runs.
func (r *runs) Finish() error {
	store := filepath.Join(r.work, "store")
	db, err := open(store, r.options)
	if err != nil {
		return err
	}
	if err := errors.Join(r.ingest(db), db.Close()); err != nil {
		return err
	}
	if err := os.Remove(r.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fileError(err)
	}
	if err := os.Rename(store, r.dir); err != nil {
		return fileError(err)
	}
	return nil
}

// ingest makes the database ingest the files, and writes the rest.
func (r *runs) ingest(db *database) error {
	o := grocksdb.NewDefaultIngestExternalFileOptions()
	defer o.Destroy()
	o.SetMoveFiles(true)
	for f, files := range r.files {
		if len(files) == 0 {
			continue
		}
		if err := db.db.IngestExternalFileCF(db.handle(kv.Family(f)), files, o); err != nil {
			return classify("rocks: build", err)
		}
	}
	if err := db.Write(&r.rest); err != nil {
		return err
	}
	return db.flush()
}

// Close implements kv.Runs.
func (r *runs) Close() error {
	r.config.destroy()
	r.env.Destroy()
	return os.RemoveAll(r.work)
}

// Run implements kv.Runs.
func (r *runs) Run(f kv.Family) (kv.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	return &run{runs: r, family: f, path: filepath.Join(r.work, fmt.Sprintf("%s-%06d.sst", f, r.count))}, nil
}

// Batch implements kv.Runs.
func (r *runs) Batch(b *kv.Batch) error {
	r.rest = *b
	return nil
}

// maxFile is the size at which a run continues in another file.
const maxFile = 128 << 20

// run is one sorted run, in one file or several.
type run struct {
	runs   *runs
	family kv.Family
	path   string // of the first file
	parts  int
	writer *grocksdb.SSTFileWriter // nil if no file is open
	name   string                  // of the open file
	keys   int
}

// Add implements kv.Run.
func (r *run) Add(key, value []byte) error {
	if r.writer == nil {
		r.name = fmt.Sprintf("%s.%d", r.path, r.parts)
		r.parts++
		w := grocksdb.NewSSTFileWriter(r.runs.env, r.runs.config.families[r.family+1])
		if err := w.Open(r.name); err != nil {
			w.Destroy()
			return classify("rocks: build", err)
		}
		r.writer = w
	}
	if err := r.writer.Put(key, value); err != nil {
		return classify("rocks: build", err)
	}
	if r.keys++; r.keys%1024 == 0 && r.writer.FileSize() > maxFile {
		return r.Close()
	}
	return nil
}

// Close implements kv.Run.
func (r *run) Close() error {
	if r.writer == nil {
		return nil
	}
	err := r.writer.Finish()
	r.writer.Destroy()
	r.writer = nil
	if err != nil {
		return classify("rocks: build", err)
	}
	r.runs.mu.Lock()
	r.runs.files[r.family] = append(r.runs.files[r.family], r.name)
	r.runs.mu.Unlock()
	return nil
}
