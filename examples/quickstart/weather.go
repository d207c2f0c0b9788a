package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"time"
)

//go:embed weather.csv
var observations []byte

// Day is what was observed in Seattle on one day.
type Day struct {
	Date          time.Time `json:"date"`
	Precipitation float64   `json:"precipitation"` // mm
	High          float64   `json:"temp_max"`      // °C
	Low           float64   `json:"temp_min"`      // °C
	Wind          float64   `json:"wind"`          // m/s
}

// Month is a month as 2006-01.
type Month string

// ID gives the day as 2006-01-02.
func (d Day) ID() string { return d.Date.Format(time.DateOnly) }

// Wet reports whether there was any precipitation.
func (d Day) Wet() bool { return d.Precipitation > 0 }

// Month gives the month that the day lies in.
func (d Day) Month() Month { return Month(d.Date.Format("2006-01")) }

// EndsMonth reports whether the next day lies in another month.
func (d Day) EndsMonth() bool { return d.Date.AddDate(0, 0, 1).Day() == 1 }

// readWeather reads the embedded observations, oldest first and without gaps.
func readWeather() ([]Day, error) {
	r := csv.NewReader(bytes.NewReader(observations))
	r.FieldsPerRecord = 6
	if _, err := r.Read(); err != nil { // the names of the columns
		return nil, fmt.Errorf("weather.csv: %w", err)
	}
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("weather.csv: %w", err)
	}
	var days []Day
	for i, row := range rows {
		day, err := parseDay(row)
		if err != nil {
			return nil, fmt.Errorf("weather.csv: line %d: %w", i+2, err)
		}
		if i > 0 && !days[i-1].Date.AddDate(0, 0, 1).Equal(day.Date) {
			return nil, fmt.Errorf("weather.csv: line %d: %s does not follow %s", i+2, day.ID(), days[i-1].ID())
		}
		days = append(days, day)
	}
	return days, nil
}

// parseDay reads date, precipitation, temp_max, temp_min and wind. The last
// column, the kind of weather, is not used.
func parseDay(row []string) (d Day, err error) {
	if d.Date, err = time.Parse(time.DateOnly, row[0]); err != nil {
		return d, err
	}
	for i, v := range [...]*float64{&d.Precipitation, &d.High, &d.Low, &d.Wind} {
		if *v, err = strconv.ParseFloat(row[i+1], 64); err != nil {
			return d, err
		}
	}
	return d, nil
}
