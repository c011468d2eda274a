"use strict";

// Draw every chart from the data that stands beside it.
const SETTINGS = {
  displaylogo: false,
  responsive: true,
  modeBarButtons: [["toImage", "resetScale2d"]], // no others: some would send the chart away
};

for (const data of document.querySelectorAll("script[data-chart]")) {
  const figure = JSON.parse(data.textContent);
  Plotly.newPlot(data.dataset.chart, figure.data, figure.layout, SETTINGS);
}
