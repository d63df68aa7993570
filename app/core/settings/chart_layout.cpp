// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/chart_layout.h"

#include "app/core/settings/paths.h"
#include "app/core/settings/private_files.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QFile>

#include <algorithm>

namespace rm {

namespace {

constexpr int kMostRank = 1 << 20;

constexpr ChartShape kShapes[] = {ChartShape::kLines, ChartShape::kRibbon, ChartShape::kHeat};

const char* shapeName(ChartShape shape) {
    switch (shape) {
    case ChartShape::kRibbon:
        return "ribbon";
    case ChartShape::kHeat:
        return "heat";
    case ChartShape::kLines:
        break;
    }
    return "lines";
}

std::string fileOf(const Paths& paths) {
    return paths.config.toStdString() + "/layouts.json";
}

/// Reads what a layout is made of, and remembers what it cannot take.
class LayoutReader {
public:
    explicit LayoutReader(const std::string& source)
        : m_source(source) {}

    Result<ChartLayouts> read(const Json& json) {
        ChartLayouts layouts;
        if (!json.is_object())
            return refuse("it is no object");
        layouts.inUse = layoutsAt(json, "in_use");
        layouts.kept = layoutsAt(json, "kept");
        if (m_problem.empty())
            return layouts;
        return refuse(m_problem);
    }

private:
    tl::unexpected<Error> refuse(const std::string& why) const {
        return fail(ErrorCode::kCorrupt,
                    "read the layouts of charts: " + m_source + ": " + why +
                        "; mend it, or remove it to have the charts as they come");
    }

    void wrong(const char* key, const char* expected) {
        if (m_problem.empty())
            m_problem = std::string("\"") + key + "\" is not " + expected;
    }

    /// The value of a key if it is there; one that is not `expected` is a problem.
    template <class Check>
    const Json* at(const Json& object, const char* key, const char* expected, Check isGood) {
        const auto found = object.find(key);
        if (found == object.end())
            return nullptr;
        if (isGood(*found))
            return &*found;
        wrong(key, expected);
        return nullptr;
    }
    const Json* listAt(const Json& object, const char* key) {
        return at(object, key, "a list", [](const Json& json) { return json.is_array(); });
    }
    const Json* objectAt(const Json& object, const char* key) {
        return at(object, key, "an object", [](const Json& json) { return json.is_object(); });
    }
    std::string wordAt(const Json& object, const char* key) {
        const Json* text =
            at(object, key, "a text", [](const Json& json) { return json.is_string(); });
        return text ? text->get<std::string>() : std::string();
    }
    std::optional<bool> switchAt(const Json& object, const char* key) {
        const Json* on =
            at(object, key, "true or false", [](const Json& json) { return json.is_boolean(); });
        return on ? std::optional(on->get<bool>()) : std::nullopt;
    }
    std::optional<int> countAt(const Json& object, const char* key, int most) {
        const Json* count = at(object, key, "a number within its bounds", [most](const Json& json) {
            return json.is_number_integer() && json >= 1 && json <= most;
        });
        return count ? std::optional(count->get<int>()) : std::nullopt;
    }

    std::map<std::string, ChartLayout> layoutsAt(const Json& json, const char* key) {
        std::map<std::string, ChartLayout> layouts;
        if (const Json* all = objectAt(json, key))
            for (const auto& [name, layout] : all->items())
                layouts[name] = layoutFrom(layout, name);
        return layouts;
    }

    ChartLayout layoutFrom(const Json& json, const std::string& name) {
        ChartLayout layout;
        if (!json.is_object()) {
            wrong(name.c_str(), "an object");
            return layout;
        }
        layout.order = wordsAt(json, "order");
        if (const Json* styles = objectAt(json, "charts"))
            for (const auto& [key, style] : styles->items())
                layout.setStyle(key, styleFrom(style, key));
        if (const Json* own = listAt(json, "own"))
            for (const Json& chart : *own)
                layout.own.push_back(ownFrom(chart));
        return layout;
    }

    std::vector<std::string> wordsAt(const Json& json, const char* key) {
        std::vector<std::string> words;
        const Json* list = listAt(json, key);
        for (const Json& word : list ? *list : Json::array())
            if (word.is_string())
                words.push_back(word.get<std::string>());
            else
                wrong(key, "a list of texts");
        return words;
    }

    ChartStyle styleFrom(const Json& json, const std::string& key) {
        ChartStyle style;
        if (!json.is_object()) {
            wrong(key.c_str(), "an object");
            return style;
        }
        style.columns = countAt(json, "columns", ChartStyle::kMostColumns);
        style.rows = countAt(json, "rows", ChartStyle::kMostRows);
        style.isFirst = switchAt(json, "first");
        style.isLog = switchAt(json, "log");
        style.isHidden = switchAt(json, "hidden").value_or(false);
        style.cutsOutliers = switchAt(json, "cut_outliers").value_or(false);
        const auto isEnd = [](const Json& end) { return end.is_null() || end.is_number(); };
        const Json* range = at(json, "y", "a lower and an upper number", [&](const Json& pair) {
            return pair.is_array() && pair.size() == 2 && isEnd(pair[0]) && isEnd(pair[1]) &&
                   (pair[0].is_null() || pair[1].is_null() ||
                    pair[0].get<double>() < pair[1].get<double>());
        });
        const auto endAt = [range](size_t end) {
            return range && !(*range)[end].is_null() ? std::optional((*range)[end].get<double>())
                                                     : std::nullopt;
        };
        style.yRange = {endAt(0), endAt(1)};
        return style;
    }

    ChartShape shapeAt(const Json& json) {
        if (!json.contains("shape"))
            return ChartShape::kLines;
        const std::string name = wordAt(json, "shape");
        for (const ChartShape shape : kShapes)
            if (name == shapeName(shape))
                return shape;
        wrong("shape", "lines, ribbon or heat");
        return ChartShape::kLines;
    }

    OwnChart ownFrom(const Json& json) {
        OwnChart chart;
        if (!json.is_object()) {
            wrong("own", "a list of objects");
            return chart;
        }
        chart.key = wordAt(json, "key");
        chart.title = wordAt(json, "title");
        chart.metrics = wordsAt(json, "metrics");
        chart.shape = shapeAt(json);
        const Json* ranks = listAt(json, "ranks");
        for (const Json& rank : ranks ? *ranks : Json::array())
            if (rank.is_number_integer() && rank >= 0 && rank <= kMostRank)
                chart.ranks.push_back(rank.get<int>());
            else
                wrong("ranks", "a list of ranks");
        if (!chart.key.starts_with(kOwnChart) || chart.metrics.empty())
            wrong("own", "a list of charts with a key and metrics");
        return chart;
    }

    const std::string& m_source;
    std::string m_problem;
};

Json jsonOf(const ChartStyle& style) {
    Json json = Json::object();
    const auto put = [&json](const char* key, const auto& value) {
        if (value)
            json[key] = *value;
    };
    put("columns", style.columns);
    put("rows", style.rows);
    put("first", style.isFirst);
    put("log", style.isLog);
    const auto endOf = [](const std::optional<double>& end) { return end ? Json(*end) : Json(); };
    if (style.yRange != AxisRange())
        json["y"] = {endOf(style.yRange.low), endOf(style.yRange.high)};
    if (style.isHidden)
        json["hidden"] = true;
    if (style.cutsOutliers)
        json["cut_outliers"] = true;
    return json;
}

Json jsonOf(const OwnChart& chart) {
    Json json = {{"key", chart.key}, {"title", chart.title}, {"metrics", chart.metrics}};
    if (!chart.ranks.empty())
        json["ranks"] = chart.ranks;
    if (chart.shape != ChartShape::kLines)
        json["shape"] = shapeName(chart.shape);
    return json;
}

Json jsonOf(const ChartLayout& layout) {
    Json json = Json::object();
    if (!layout.order.empty())
        json["order"] = layout.order;
    for (const auto& [key, style] : layout.styles)
        json["charts"][key] = jsonOf(style);
    for (const OwnChart& chart : layout.own)
        json["own"].push_back(jsonOf(chart));
    return json;
}

Json jsonOf(const std::map<std::string, ChartLayout>& layouts) {
    Json json = Json::object();
    for (const auto& [name, layout] : layouts)
        json[name] = jsonOf(layout);
    return json;
}

/// Adds those of `keys` that are not in `all`, each behind the one that it comes after in `keys`.
void addMissing(std::vector<std::string>& all, const std::vector<std::string>& keys) {
    auto behind = all.begin();
    for (const std::string& key : keys) {
        auto at = std::ranges::find(all, key);
        if (at == all.end())
            at = all.insert(behind, key);
        behind = std::next(at);
    }
}

} // namespace

ChartStyle ChartLayout::styleOf(const std::string& key) const {
    const auto style = styles.find(key);
    return style == styles.end() ? ChartStyle() : style->second;
}

void ChartLayout::setStyle(const std::string& key, const ChartStyle& style) {
    if (style == ChartStyle())
        styles.erase(key);
    else
        styles[key] = style;
}

std::string ChartLayout::nextOwnKey() const {
    int number = 1;
    const auto isTaken = [&](const OwnChart& chart) {
        return chart.key == kOwnChart + std::to_string(number);
    };
    while (std::ranges::any_of(own, isTaken))
        ++number;
    return kOwnChart + std::to_string(number);
}

void ChartLayout::removeOwn(const std::string& key) {
    std::erase_if(own, [&](const OwnChart& chart) { return chart.key == key; });
    std::erase(order, key);
    styles.erase(key);
}

std::vector<std::string> arranged(const ChartLayout& layout, const std::vector<std::string>& keys) {
    const auto isThere = [&keys](const std::string& key) {
        return std::ranges::find(keys, key) != keys.end();
    };
    std::vector<std::string> all;
    for (const std::string& key : layout.order)
        if (isThere(key) && std::ranges::find(all, key) == all.end())
            all.push_back(key);
    addMissing(all, keys);
    return all;
}

void moveChart(ChartLayout& layout, const std::vector<std::string>& keys, const std::string& key,
               const std::string& before) {
    if (key == before)
        return;
    std::vector<std::string> order = keys;
    std::erase(order, key);
    order.insert(std::ranges::find(order, before), key);
    std::vector<std::string> others = layout.order; // also of what this run does not have
    std::erase(others, key);
    addMissing(order, others);
    layout.order = std::move(order);
}

Result<ChartLayouts> chartLayoutsFrom(std::string_view json, const std::string& source) {
    const auto parsed = parseJson(json, source);
    if (!parsed)
        return tl::unexpected(parsed.error());
    return LayoutReader(source).read(*parsed);
}

std::string toJson(const ChartLayouts& layouts) {
    const Json json = {{"in_use", jsonOf(layouts.inUse)}, {"kept", jsonOf(layouts.kept)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<ChartLayouts> readChartLayouts(const Paths& paths) {
    const std::string file = fileOf(paths);
    if (!QFile::exists(QString::fromStdString(file)))
        return ChartLayouts{};
    const auto text = readFile(file);
    if (!text)
        return tl::unexpected(text.error());
    return chartLayoutsFrom(*text, file);
}

Result<void> writeChartLayouts(const Paths& paths, const ChartLayouts& layouts) {
    if (const auto there = readChartLayouts(paths); !there)
        return tl::unexpected(there.error());
    RM_RETURN_IF_ERROR(makePrivateFolder(paths.config.toStdString()));
    const std::string file = behindLinks(fileOf(paths));
    RM_RETURN_IF_ERROR(writeFileAtomically(file, toJson(layouts)));
    protectFile(file);
    return {};
}

} // namespace rm
