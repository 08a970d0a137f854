package rocks

import (
	"os"
	"path/filepath"

	"adshard/fault"
)

// Checkpoint implements kv.Checkpointer. Table files are shared by hard links, all other files are
// copied. Data that are only in the log are written to table files first.
func (kv *database) Checkpoint(dir string) error {
	const op = "rocks: checkpoint"
	if err := kv.checkSpace(kv.options.WriteBufferBytes); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fileError(err)
	}
	if _, err := os.Lstat(dir); err == nil {
		return fault.Newf(fault.Conflict, op, "%s exists already; name another directory", dir)
	}
	c, err := kv.db.NewCheckpoint()
	if err != nil {
		return classify(op, err)
	}
	defer c.Destroy()
	return classify(op, c.CreateCheckpoint(dir, 0))
}
