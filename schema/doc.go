// Package schema holds the formats that leave a process: Protocol Buffers
// (proto/, generated into pb/) for records, node data and calls between nodes,
// FlatBuffers (fbs/, generated into fb/) for the matching data that each query
// reads in place. Generated code is committed; `make generate` rebuilds it
// and `make test` compares.
//
// It imports nothing of the project.
package schema
