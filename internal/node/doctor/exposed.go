package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adshard/internal/outfile"
)

// exposed finds files, by process, that users other than their owner may read.
func (e *examination) exposed() {
	files := make(map[string][]string)
	for _, p := range e.now.Ports {
		for i := range p.Metrics {
			if s := &p.Metrics[i]; s.Name == "adshard_exposed_files" && s.Value > 0 && !slices.Contains(files[s.Labels["node"]], s.Labels["path"]) {
				files[s.Labels["node"]] = append(files[s.Labels["node"]], s.Labels["path"])
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(files)) {
		e.add(Reserve, "AdshardFilesExposed", node, fmt.Sprintf("other users of the machine of %s may read or write its files: %s", node, strings.Join(files[node], ", ")),
			fmt.Sprintf("on that machine, as the owner of the files: `%s`", outfile.Closing(files[node])))
	}
}
