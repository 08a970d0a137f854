package ports

import (
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/outfile"
)

// WarnExposed warns of files and directories of a program that users other than their owner may read or write. The
// program itself makes no such files: they were made by other means, copied without their permissions, or opened
// to others later.
func WarnExposed(state []string, log *slog.Logger) {
	if open := outfile.Exposed(state); len(open) > 0 {
		log.Warn("other users of this machine may read or write files of this program: as their owner, run the command",
			"files", open, "command", outfile.Closing(open))
	}
}

// RegisterState warns of exposed files and directories as WarnExposed does, and registers a metric that checks
// them again whenever it is collected.
func (p *Ports) RegisterState(node string, state []string, log *slog.Logger) {
	WarnExposed(state, log)
	p.Registerer(node).MustRegister(exposed(state))
}

// exposed are files and directories that are checked when metrics are collected.
type exposed []string

var exposedFile = prometheus.NewDesc("adshard_exposed_files",
	"1 for each file or directory of the process that others than its owner may read or write.", []string{"path"}, nil)

// Describe implements prometheus.Collector.
func (e exposed) Describe(to chan<- *prometheus.Desc) { to <- exposedFile }

// Collect implements prometheus.Collector.
func (e exposed) Collect(to chan<- prometheus.Metric) {
	for _, path := range outfile.Exposed(e) {
		to <- prometheus.MustNewConstMetric(exposedFile, prometheus.GaugeValue, 1, strings.ToValidUTF8(path, "\uFFFD"))
	}
}
