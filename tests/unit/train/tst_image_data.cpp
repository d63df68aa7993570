// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/picture_files.h"
#include "trainer/train/data/bad_samples.h"
#include "trainer/train/data/data_identity.h"
#include "trainer/train/workloads/resnet/image_batches.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <ATen/ops/equal.h>

#include <filesystem>
#include <fstream>
#include <set>

using namespace rm;
using namespace rm::test;

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Folder {
public:
    std::string path(const std::string& name = "") const {
        return m_dir.path().toStdString() + (name.empty() ? "" : "/" + name);
    }
    /// A name is enough for a scan.
    std::string touch(const std::string& name) const {
        writeBytes(path(name), "x");
        return path(name);
    }

private:
    QTemporaryDir m_dir;
};

Names pathsOf(const ImageFolder& folder) {
    Names paths;
    for (int64_t i = 0; i < folder.count(); ++i)
        paths.push_back(folder.path(i));
    return paths;
}

std::vector<int64_t> labelsOf(const Batch& batch) {
    const auto* labels = batch.tensors[1].const_data_ptr<int64_t>();
    return {labels, labels + batch.tensors[1].size(0)};
}

constexpr int64_t kSize = 24;

} // namespace

class TestImageData : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void classesAreFoldersWithPicturesSortedByName() {
        const Folder folder;
        for (const char* name : {"dog/b.JPG", "dog/a.jpeg", "dog/more/c.PNG", "dog/notes.txt",
                                 "dog/.hidden.jpg", "Cat/x.png", ".git/y.png", "readme.txt"})
            folder.touch(name);
        const auto found = ImageFolder::scan({folder.path() + "/"});
        QVERIFY(found);
        QCOMPARE(found->classes(), (Names{"Cat", "dog"}));
        QCOMPARE(pathsOf(*found), (Names{folder.path("Cat/x.png"), folder.path("dog/a.jpeg"),
                                         folder.path("dog/b.JPG"), folder.path("dog/more/c.PNG")}));
        QCOMPARE(found->label(0), int64_t{0});
        QCOMPARE(found->label(3), int64_t{1});
    }

    /// Of two classes, or several times of one, which is then seen more often.
    void aPictureCountsAsOftenAsTheFoldersHaveIt() {
        const Folder folder, elsewhere;
        folder.touch("a/one.png");
        const std::string far = elsewhere.touch("two.png");
        fs::create_directories(folder.path("b"));
        fs::create_symlink("../a/one.png", folder.path("b/alias.png"));
        fs::create_symlink(far, folder.path("b/two.png"));
        fs::create_symlink(far, folder.path("b/two-again.png"));
        const auto found = ImageFolder::scan({folder.path()});
        QVERIFY(found);
        QCOMPARE(pathsOf(*found),
                 (Names{folder.path("a/one.png"), folder.path("b/alias.png"),
                        folder.path("b/two-again.png"), folder.path("b/two.png")}));
        QCOMPARE(found->label(1), int64_t{1});
    }

    void linkedFoldersAreReadAndLinksToNothingNamed() {
        const Folder folder, elsewhere;
        folder.touch("a/one.png");
        elsewhere.touch("cats/deep/two.png");
        elsewhere.touch("more/three.png");
        fs::create_directory_symlink(elsewhere.path("cats"), folder.path("b"));
        fs::create_directory_symlink(elsewhere.path("more"), folder.path("a/more"));
        fs::create_directory_symlink(folder.path("a"), folder.path("a/again"));
        fs::create_directory_symlink(folder.path("a"), folder.path("b/of-a"));
        const auto found = ImageFolder::scan({folder.path()});
        QVERIFY2(found, found ? "" : found.error().message.c_str());
        QCOMPARE(pathsOf(*found),
                 (Names{folder.path("a/more/three.png"), folder.path("a/one.png"),
                        folder.path("b/deep/two.png"), folder.path("b/of-a/more/three.png"),
                        folder.path("b/of-a/one.png")}));
        fs::create_symlink(folder.path("nowhere.png"), folder.path("a/broken.png"));
        const auto broken = ImageFolder::scan({folder.path()});
        QCOMPARE(broken.error().code, ErrorCode::kNotFound);
        QVERIFY2(broken.error().message.find("broken.png") != std::string::npos,
                 broken.error().message.c_str());
    }

    void partsOfADatasetAreNoClasses() {
        const Folder folder;
        folder.touch("train/cat/a.png");
        folder.touch("val/cat/b.png");
        const auto found = ImageFolder::scan({folder.path()});
        QVERIFY(!found);
        QVERIFY2(found.error().message.find("parts of a dataset") != std::string::npos,
                 found.error().message.c_str());
    }

    void aPictureOfNoClassIsNamed() {
        const Folder folder;
        folder.touch("cat/a.png");
        folder.touch("dog/a.png");
        QVERIFY(ImageFolder::scan({folder.path()}));
        folder.touch("loose.png");
        const auto found = ImageFolder::scan({folder.path()});
        QVERIFY(!found);
        QVERIFY2(found.error().message.find("loose.png lies beside") != std::string::npos,
                 found.error().message.c_str());
        QVERIFY(ImageFolder::scan({folder.path()}, Others::kLeftOut)); // as it has trained before
    }

    void aClassThatWouldVanishIsRefused_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("why");
        QTest::newRow("gif") << "b/one.gif"
                             << "one.gif is of a kind that is not read; convert it and its like";
        QTest::newRow("among others") << "a/two.TIFF"
                                      << "two.TIFF is of a kind that is not read";
        QTest::newRow("as Windows names a JPEG") << "b/one.jfif"
                                                 << "one.jfif is of a kind";
        QTest::newRow("no picture") << "b/readme.md"
                                    << "the class b has no .jpg, .jpeg, .png, .webp or .bmp files";
    }

    void aClassThatWouldVanishIsRefused() {
        QFETCH(QString, file);
        QFETCH(QString, why);
        const Folder folder;
        folder.touch("a/one.png");
        folder.touch(file.toStdString());
        const auto found = ImageFolder::scan({folder.path()});
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::kInvalid);
        QVERIFY2(QString::fromStdString(found.error().message).contains(why),
                 found.error().message.c_str());
    }

    void foldersOfOneNameAreOneClass() {
        const Folder one, two;
        one.touch("a/x.png");
        two.touch("a/x.png");
        two.touch("b/y.png");
        const auto found = ImageFolder::scan({one.path(), two.path()});
        QVERIFY(found);
        QCOMPARE(found->classes(), (Names{"a", "b"}));
        QCOMPARE(pathsOf(*found),
                 (Names{one.path("a/x.png"), two.path("a/x.png"), two.path("b/y.png")}));
    }

    void whatHasNoPicturesIsNamed() {
        const Folder folder;
        folder.touch("flat.png");
        const auto flat = ImageFolder::scan({folder.path()});
        QVERIFY(!flat);
        QCOMPARE(flat.error().code, ErrorCode::kInvalid);
        QVERIFY(flat.error().message.find(folder.path()) != std::string::npos);
        const auto missing = ImageFolder::scan({folder.path("missing")});
        QVERIFY(!missing);
        QCOMPARE(missing.error().code, ErrorCode::kNotFound);
    }

    void identityIsOfNamesNotOfPlaces() {
        const Folder one, copy, renamed;
        for (const Folder* folder : {&one, &copy})
            folder->touch("a/x.png");
        renamed.touch("a/z.png");
        const auto of = [](const Folder& folder) {
            return ImageFolder::scan({folder.path()})->identity();
        };
        QCOMPARE(of(one), of(copy));
        QVERIFY(of(one) != of(renamed));
    }

    /// Of another size, or of the same with other bytes; where they lie and how old they are is not
    /// what they are.
    void contentIsOfWhatPicturesAre() {
        const auto write = [](const Folder& folder, const std::string& name, const char* bytes) {
            folder.touch(name);
            std::ofstream(folder.path(name)) << bytes;
        };
        const Folder one, copy;
        for (const Folder* folder : {&one, &copy})
            for (const char* name : {"a/x.png", "a/y.png", "b/z.png"})
                write(*folder, name, "some bytes");
        const auto of = [](const Folder& folder) {
            const auto scanned = ImageFolder::scan({folder.path()});
            return withContent(scanned->identity(), scanned->content());
        };
        const std::string before = of(one);
        QCOMPARE(of(copy), before);
        QVERIFY(mayBeSameData(before, of(copy)));
        write(one, "a/y.png", "more bytes than before");
        QVERIFY(!mayBeSameData(before, of(one)));
        write(one, "a/y.png", "same bytes");
        QVERIFY(!mayBeSameData(before, of(one)));
        write(one, "a/y.png", "some bytes");
        QVERIFY(mayBeSameData(before, of(one)));
        // What an earlier release has saved tells of the names alone.
        write(one, "a/y.png", "same bytes");
        QVERIFY(mayBeSameData(ImageFolder::scan({one.path()})->identity(), of(one)));
        QVERIFY(mayBeSameData("", of(one)));
    }

    void ofManyFilesSomeAreLookedAt() {
        int64_t looked = 0;
        const auto path = [&](int64_t) {
            ++looked;
            return std::string("/no/such/file");
        };
        static_cast<void>(sampledContent(1'000'000, 50'000, path));
        QCOMPARE(looked, int64_t{50'000});
    }

    void heldOutPicturesFollowFromTheirNames() {
        const Folder small, large;
        for (int i = 0; i < 50; ++i) {
            small.touch("a/" + std::to_string(i) + ".png");
            large.touch("a/" + std::to_string(i) + ".jpg");
        }
        const auto both = ImageFolder::scan({small.path(), large.path()});
        const auto [rest, heldOut] = both->split(0.2);
        QCOMPARE(rest.count(), int64_t{80});
        QCOMPARE(heldOut.count(), int64_t{20});
        const auto alone = ImageFolder::scan({small.path()})->split(0.2).second;
        std::set<std::string> names;
        for (const std::string& path : pathsOf(heldOut))
            names.insert(fs::path(path).stem());
        QCOMPARE(names.size(), size_t{10}); // both sizes of each
        for (const std::string& path : pathsOf(alone))
            QVERIFY(names.contains(fs::path(path).stem()));
    }

    void aSplitLeavesSomethingOnBothSides() {
        const Folder folder;
        folder.touch("a/1.png");
        folder.touch("b/2.png");
        const auto found = ImageFolder::scan({folder.path()});
        QCOMPARE(found->split(0.01).second.count(), int64_t{1});
        QCOMPARE(found->split(0.9).first.count(), int64_t{1});
        QCOMPARE(found->split(0).second.count(), int64_t{0});
        const Folder lonely;
        lonely.touch("a/1.png");
        QCOMPARE(ImageFolder::scan({lonely.path()})->split(0.5).first.count(), int64_t{1});
    }

    void validationHasTheClassesOfTraining() {
        const Folder folder;
        folder.touch("b/1.png");
        const auto found = ImageFolder::scan({folder.path()});
        const auto relabelled = found->relabelled({"a", "b", "c"});
        QVERIFY(relabelled);
        QCOMPARE(relabelled->label(0), int64_t{1});
        QCOMPARE(relabelled->classes().size(), size_t{3});
        const auto strange = found->relabelled({"a", "c"});
        QVERIFY(!strange);
        QVERIFY(strange.error().message.find("\"b\"") != std::string::npos);
    }

    void samplesDoNotDependOnHowTheyAreCut() {
        const Folder folder;
        writeClasses(folder.path(), {"a", "b"}, 5);
        TrainingImages images(*ImageFolder::scan({folder.path()}), kSize, 7);
        TrainingImages again(*ImageFolder::scan({folder.path()}), kSize, 7);
        const auto whole = images.read(3, 12);
        QVERIFY(whole && whole->bad.empty());
        QVERIFY(whole->tensors[0].is_contiguous(at::MemoryFormat::ChannelsLast));
        QCOMPARE(whole->targets, int64_t{12});
        for (int64_t i = 11; i >= 0; --i) {
            const auto one = again.read(3 + i, 1);
            QVERIFY(at::equal(one->tensors[0][0], whole->tensors[0][i]));
            QCOMPARE(labelsOf(*one)[0], labelsOf(*whole)[static_cast<size_t>(i)]);
        }
    }

    void everyEpochShowsAllPicturesInNewViews() {
        const Folder folder;
        writeClasses(folder.path(), {"a", "b"}, 5);
        TrainingImages images(*ImageFolder::scan({folder.path()}), kSize, 7);
        const auto first = images.read(0, 10);
        const auto second = images.read(10, 10);
        for (const auto& epoch : {*first, *second}) {
            const auto labels = labelsOf(epoch);
            QCOMPARE(std::count(labels.begin(), labels.end(), 0), 5);
        }
        QVERIFY(!at::equal(first->tensors[0], second->tensors[0]));
        TrainingImages otherSeed(*ImageFolder::scan({folder.path()}), kSize, 8);
        QVERIFY(!at::equal(first->tensors[0], otherSeed.read(0, 10)->tensors[0]));
    }

    void theNextPictureStandsInForABadOne() {
        const Folder folder;
        writeClasses(folder.path(), {"a", "b"}, 3);
        const std::string bad = folder.path("a/2.jpg"); // b/0.png is next
        writeBytes(bad, "no picture");
        TrainingImages images(*ImageFolder::scan({folder.path()}), kSize, 7);
        const auto batch = images.read(0, 6);
        QVERIFY(batch);
        QCOMPARE(batch->targets, int64_t{6});
        QCOMPARE(batch->bad, (std::vector<BadSample>{{bad, "no JPEG, PNG, WebP or BMP"}}));
        const auto labels = labelsOf(*batch);
        QCOMPARE(std::count(labels.begin(), labels.end(), 1), 4);
        TrainingImages again(*ImageFolder::scan({folder.path()}), kSize, 7);
        QVERIFY(at::equal(again.read(0, 6)->tensors[0], batch->tensors[0]));
    }

    void aFolderOfBadPicturesIsAnError() {
        const Folder folder;
        folder.touch("a/1.png");
        folder.touch("a/2.png");
        TrainingImages images(*ImageFolder::scan({folder.path()}), kSize, 7);
        const auto batch = images.read(0, 1);
        QVERIFY(!batch);
        QCOMPARE(batch.error().code, ErrorCode::kCorrupt);
    }

    void validationShowsEachPictureOnce() {
        const Folder folder;
        writeClasses(folder.path(), {"a", "b"}, 4);
        writeBytes(folder.path("a/1.jpg"), "no picture");
        const auto found = *ImageFolder::scan({folder.path()});
        ValidationImages all(found, kSize, 100);
        QCOMPARE(all.epochSize(), int64_t{8});
        const auto start = all.read(0, 6);
        QCOMPARE(labelsOf(*start), (std::vector<int64_t>{0, 0, 0, 1, 1}));
        QCOMPARE(start->bad.size(), size_t{1});
        QCOMPARE(all.read(6, 6)->targets, int64_t{2});
        QCOMPARE(all.read(12, 6)->targets, int64_t{0});
        ValidationImages some(found, kSize, 2);
        QCOMPARE(labelsOf(*some.read(0, 6)), (std::vector<int64_t>{0, 1}));
    }

    void tooManyBadSamplesEndTheRun() {
        std::vector<std::pair<std::string, int64_t>> reported;
        BadSamples samples(0.01, 1000000, [&](const BadSample& bad, int64_t total) {
            reported.emplace_back(bad.path, total);
        });
        const auto batch = [](const std::string& path) {
            return Batch{{}, 1, {{path, "it is empty"}}};
        };
        QVERIFY(samples.add(1, batch("first"))); // of the first thousand ten may be bad
        QVERIFY(samples.add(1, batch("first"))); // again, in the next epoch
        for (int i = 2; i < 10; ++i)
            QVERIFY(samples.add(1, batch(std::to_string(i))));
        const auto ended = samples.add(1, batch("last"));
        QVERIFY(!ended);
        QCOMPARE(ended.error().code, ErrorCode::kCorrupt);
        QVERIFY(ended.error().message.find("last: it is empty") != std::string::npos);
        QCOMPARE(reported.size(), size_t{10}); // each path once
        QCOMPARE(reported.back(), (std::pair<std::string, int64_t>{"last", 10}));
    }

    void aShareIsOfWhatWasUsed() {
        BadSamples samples(0.5, 4, [](const BadSample&, int64_t) {});
        const Batch bad{{}, 1, {{"a", ""}}};
        QVERIFY(samples.add(1, bad));
        QVERIFY(samples.add(1, bad));
        QVERIFY(samples.add(2, Batch{{}, 2}));
        QVERIFY(!samples.add(1, bad)); // 3 of 5
        BadSamples strict(0, 1000, [](const BadSample&, int64_t) {});
        QVERIFY(!strict.add(1, bad));
    }
};

QTEST_GUILESS_MAIN(TestImageData)
#include "tst_image_data.moc"
