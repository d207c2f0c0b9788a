module github.com/opensentience/pulse-go/bench

go 1.26.0

replace github.com/opensentience/pulse-go => ../
